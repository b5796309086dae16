/**
 * Following an iterator, of either kind: its chunks are masked, and its end, failure or being left
 * is the end of the performance.
 */
import type { ChunkMask } from "./chunk-mask.js";
import { failureOf } from "./outcome.js";
import type { Outcome } from "./reports.js";
import type { Release } from "../types/permit.js";

/** What a stream is followed with. */
export interface Following {
  readonly release: Release;
  /** Records the end. Never rejects. */
  readonly end: (outcome: Outcome) => Promise<boolean>;
}

/** The same with what masks its chunks; only the first end counts. */
export interface Stage extends Following {
  readonly chunks: ChunkMask;
}

type Result = IteratorResult<unknown, unknown>;
type Maybe<T> = T | Promise<T>;

/** How an iterator is stepped; each may be left out but the first. */
interface Source {
  next(...argument: [] | [unknown]): Maybe<Result>;
  return?(value?: unknown): Maybe<Result>;
  throw?(error?: unknown): Maybe<Result>;
}

/**
 * What both kinds do with one result of the source: chunks wait in a queue, and the last result
 * comes after them.
 */
function createQueue({ chunks, release }: Stage): {
  /** What can be handed out without asking the source. */
  readonly take: () => Result | undefined;
  readonly put: (result: Result) => void;
  readonly close: (value?: unknown) => void;
} {
  const waiting: unknown[] = [];
  let last: Result | undefined;
  return {
    take: () => (waiting.length > 0 ? { done: false, value: waiting.shift() } : last),
    put(result) {
      if (result.done !== true) waiting.push(...chunks.push(result.value));
      else {
        waiting.push(...chunks.end());
        last = { done: true, value: release.mask(result.value) };
      }
    },
    close(value) {
      waiting.length = 0;
      last = { done: true, value };
    },
  };
}

function throwInto(source: Source, error: unknown): Maybe<Result> {
  if (source.throw === undefined) throw error;
  return source.throw(error);
}

/** Follows an asynchronous iterator; what it gives is one, and can be iterated. */
export function followIterator(source: Source, stage: Stage): AsyncGenerator {
  const { release, end } = stage;
  const queue = createQueue(stage);
  const step = async (pull: () => Maybe<Result>): Promise<Result> => {
    try {
      for (let ask = pull; ; ask = () => source.next()) {
        const ready = queue.take();
        if (ready !== undefined) return ready;
        const result = await ask();
        queue.put(result);
        if (result.done === true) await end({ status: "performed" });
      }
    } catch (error) {
      queue.close();
      await end(failureOf(error));
      // Where its chunk could not be masked it goes on otherwise.
      await Promise.resolve(source.return?.()).catch(() => undefined);
      throw release.mask(error);
    }
  };
  const leave = async (value?: unknown): Promise<Result> => {
    queue.close(value);
    try {
      const result = await source.return?.(value);
      await end({ status: "cancelled" });
      return { done: true, value: release.mask(result === undefined ? value : result.value) };
    } catch (error) {
      await end(failureOf(error));
      throw release.mask(error);
    }
  };
  const followed = {
    next: (...argument: [] | [unknown]) => step(() => source.next(...argument)),
    return: leave,
    throw: (error?: unknown) => step(() => throwInto(source, error)),
    [Symbol.asyncIterator]: () => followed,
    [Symbol.asyncDispose]: async () => void (await leave()),
  };
  return followed;
}

/**
 * Follows a generator that is not asynchronous. Its end is written down while the caller goes on.
 */
export function followSyncIterator(
  source: Source,
  stage: Stage,
): IterableIterator<unknown, unknown, unknown> {
  const { release, end } = stage;
  const queue = createQueue(stage);
  const step = (pull: () => Maybe<Result>): Result => {
    try {
      for (let ask = pull; ; ask = () => source.next()) {
        const ready = queue.take();
        if (ready !== undefined) return ready;
        const result = ask();
        if (result instanceof Promise)
          throw new TypeError("a generator gave a promise of a result");
        queue.put(result);
        if (result.done === true) void end({ status: "performed" });
      }
    } catch (error) {
      queue.close();
      void end(failureOf(error));
      throw release.mask(error);
    }
  };
  const followed = {
    next: (...argument: [] | [unknown]) => step(() => source.next(...argument)),
    return(value?: unknown): Result {
      queue.close(value);
      try {
        void source.return?.(value);
        void end({ status: "cancelled" });
      } catch (error) {
        void end(failureOf(error));
        throw release.mask(error);
      }
      return { done: true, value };
    },
    throw: (error?: unknown) => step(() => throwInto(source, error)),
    [Symbol.iterator]: () => followed,
  };
  return followed;
}

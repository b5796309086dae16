/**
 * Following a stream: a performance whose value is a stream has its effects while somebody reads
 * it, so it ends with the stream. Chunks are masked on the way. A stream that nobody reads never
 * ends; the next start of the log says that its outcome is unknown.
 */
import { createChunkMask } from "./chunk-mask.js";
import {
  followIterator,
  type Following,
  followSyncIterator,
  type Stage,
} from "./follow-iterator.js";
import { failureOf } from "./outcome.js";
import type { Outcome } from "./reports.js";

/** A stream that is followed, in the place of the one that was given. */
export interface Followed<T> {
  readonly value: T;
  /** Settles when it ends, with whether that is in the log. */
  readonly ended: Promise<boolean>;
}

/** Members of Node's streams, which are read in several ways besides their iterator. */
interface NodeStream {
  on(event: string, listener: () => void): unknown;
  readonly readableEnded?: unknown;
  readonly errored?: unknown;
  readonly destroyed?: unknown;
}

const has = (value: object, key: PropertyKey): boolean =>
  typeof Reflect.get(value, key) === "function";
const isWebStream = (value: object): value is ReadableStream<unknown> =>
  has(value, "getReader") && has(value, "cancel") && "locked" in value;
const isAsyncIterable = (value: object): value is AsyncIterable<unknown> =>
  has(value, Symbol.asyncIterator);
const isAsyncIterator = (value: object): value is AsyncIterator<unknown, unknown, unknown> =>
  isAsyncIterable(value) && has(value, "next");
const isNodeStream = (value: object): value is NodeStream & object =>
  isAsyncIterable(value) && has(value, "on") && has(value, "pipe");
/** A generator is told from lists and maps by being its own iterator. */
const isIterator = (value: object): value is Iterator<unknown, unknown, unknown> =>
  has(value, Symbol.iterator) && has(value, "next");

/**
 * The stream to hand on; `undefined` for what is none.
 *
 * @throws ConsentError `secret_refused` for one that cannot be masked, after its end is recorded.
 */
export function followStream<T>(value: T, { release, end }: Following): Followed<T> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const follow = followerOf(value);
  if (follow === undefined) return undefined;
  let settle = (_recorded: boolean): void => undefined;
  const ended = new Promise<boolean>((resolve) => (settle = resolve));
  let ending: Promise<boolean> | undefined;
  const endOnce = (outcome: Outcome): Promise<boolean> => {
    if (ending === undefined) void (ending = end(outcome)).then(settle);
    return ending;
  };
  const stream = follow({ release, end: endOnce, chunks: createChunkMask(release) });
  // What is handed on is read as the original is.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { value: stream as T, ended };
}

/**
 * What follows a value; `undefined` for one that is no stream, as nearly all are: nothing is made
 * for those.
 */
function followerOf(value: object): ((stage: Stage) => object) | undefined {
  if (isWebStream(value))
    return value.locked ? undefined : (stage) => followWebStream(value, stage);
  if (isAsyncIterable(value)) {
    if (isNodeStream(value)) return (stage) => watchNodeStream(value, stage);
    if (isAsyncIterator(value)) return (stage) => followIterator(value, stage);
    return (stage) => followIterable(value, stage);
  }
  return isIterator(value) ? (stage) => followSyncIterator(value, stage) : undefined;
}

function followWebStream(
  stream: ReadableStream<unknown>,
  { release, end, chunks }: Stage,
): ReadableStream<unknown> {
  const reader = stream.getReader();
  const pull = async (controller: ReadableStreamDefaultController<unknown>): Promise<void> => {
    try {
      for (let isShown = false; !isShown; ) {
        const { done, value } = await reader.read();
        const shown = done ? chunks.end() : chunks.push(value);
        for (const chunk of shown) controller.enqueue(chunk);
        isShown = shown.length > 0;
        if (!done) continue;
        await end({ status: "performed" });
        controller.close();
        return;
      }
    } catch (error) {
      await end(failureOf(error));
      reader.cancel(error).catch(() => undefined);
      controller.error(release.mask(error));
    }
  };
  const cancel = async (reason: unknown): Promise<void> => {
    try {
      await reader.cancel(reason);
    } finally {
      await end({ status: "cancelled" });
    }
  };
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

/**
 * Node's streams are handed on as they are: nothing that could take their place can be read in all
 * their ways.
 */
function watchNodeStream(stream: NodeStream & object, { release, end }: Stage): object {
  const finish = (): void => {
    const { readableEnded, errored } = stream;
    const isCut = readableEnded !== true;
    const broken: Outcome =
      errored === undefined || errored === null ? { status: "cancelled" } : failureOf(errored);
    void end(isCut ? broken : { status: "performed" });
  };
  try {
    release.mask(stream);
  } catch (error) {
    void end(failureOf(error));
    throw error;
  }
  if (stream.readableEnded === true || stream.destroyed === true) finish();
  for (const event of ["end", "close"]) stream.on(event, finish);
  return stream;
}

/**
 * What can be iterated and has members of its own keeps them, unless secrets are known: then it can
 * be iterated, masked, and nothing else.
 */
function followIterable(iterable: AsyncIterable<unknown>, stage: Stage): object {
  const iterate = (): AsyncIterator<unknown, unknown, unknown> =>
    followIterator(iterable[Symbol.asyncIterator](), stage);
  if (stage.release.masker() !== undefined) return { [Symbol.asyncIterator]: iterate };
  return new Proxy(
    {},
    {
      get(_, key) {
        if (key === Symbol.asyncIterator) return iterate;
        const member: unknown = Reflect.get(iterable, key, iterable);
        return typeof member === "function"
          ? (...given: readonly unknown[]): unknown => Reflect.apply(member, iterable, given)
          : member;
      },
      has: (_, key) => Reflect.has(iterable, key),
      getPrototypeOf: () => Reflect.getPrototypeOf(iterable),
    },
  );
}

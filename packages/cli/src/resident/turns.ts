/** Turns: so many do something at the same time, and the others wait for them, in their order. */
import type { Readable } from "node:stream";

/** One place in the line. */
export interface Turn {
  /** Waits for it; once. */
  take(): Promise<void>;
  /** Gives it to the next; nothing where it was not taken, or is given already. */
  give(): void;
}

/** The line. */
export interface Turns {
  of(): Turn;
}

/** @param atOnce - How many have a turn at the same time; asked whenever one may be given. */
export function createTurns(atOnce: number | (() => number)): Turns {
  const isFree = (): boolean => taken < (typeof atOnce === "number" ? atOnce : atOnce());
  let taken = 0;
  const waiting: (() => void)[] = [];
  const next = (): void => {
    taken--;
    while (waiting.length > 0 && isFree()) {
      taken++;
      waiting.shift()?.();
    }
  };
  return {
    of() {
      let state: "new" | "waiting" | "taken" | "over" = "new";
      return {
        async take() {
          state = "waiting";
          if (waiting.length === 0 && isFree()) taken++;
          else await new Promise<void>((resolve) => waiting.push(resolve));
          // Whoever gave up while it waited leaves the turn to the next.
          if (isOver()) next();
          else state = "taken";
        },
        give() {
          if (state === "taken") next();
          state = "over";
        },
      };
      function isOver(): boolean {
        return state === "over";
      }
    },
  };
}

/**
 * Reads a stream, a chunk in each turn of the event loop: what else one has sent keeps nobody
 * waiting.
 *
 * @returns What ends it; whoever has the stream next makes it flow.
 */
export function readByChunks(stream: Readable, take: (chunk: Buffer) => void): () => void {
  let next: NodeJS.Immediate | undefined;
  const onData = (chunk: Buffer): void => {
    stream.pause();
    next = setImmediate(() => stream.resume());
    take(chunk);
  };
  stream.on("data", onData);
  return () => {
    clearImmediate(next);
    stream.off("data", onData);
  };
}

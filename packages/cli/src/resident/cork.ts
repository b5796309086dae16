/**
 * Cork: what is written to a stream in one turn of the event loop goes out together. Imports nothing
 * of ours.
 */
import type { Writable } from "node:stream";

/** Has the writes of a turn go out together. */
export interface Cork {
  /** Called before each write. */
  hold(): void;
  /** Has what was written go out now. */
  release(): void;
}

/** A cork for one stream, which is not held. */
export function createCork(stream: Pick<Writable, "cork" | "uncork">): Cork {
  let isHeld = false;
  const release = (): void => {
    if (!isHeld) return;
    isHeld = false;
    stream.uncork();
  };
  return {
    hold() {
      if (isHeld) return;
      isHeld = true;
      stream.cork();
      // After the promises of this turn.
      process.nextTick(release);
    },
    release,
  };
}

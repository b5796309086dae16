/** Answers: what a relay writes to its own client. One that does not read them gets no more of them. */
import type { Writable } from "node:stream";
import { createCork } from "./cork.js";
import type { Link } from "./link.js";

/** What goes to the client of a relay. */
export interface Answers {
  write(bytes: Buffer | string): void;
  /** A session follows the last one: it waits, too, while the client does not read. */
  follow(): void;
  /** Hands out what was written: nothing more will be, once this process ends. */
  flush(): void;
}

/** @param link - The session that is open. */
export function createAnswers(output: Writable, link: () => Link | undefined): Answers {
  const cork = createCork(output);
  let isFull = false;
  return {
    write(bytes) {
      cork.hold();
      if (output.write(bytes) || isFull) return;
      isFull = true;
      link()?.pause();
      output.once("drain", () => {
        isFull = false;
        link()?.resume();
      });
    },
    flush: cork.release,
    follow() {
      if (isFull) link()?.pause();
    },
  };
}

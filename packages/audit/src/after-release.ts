/**
 * After release: what is kept of lines beside the log itself, such as the index, is done once those
 * who waited for the lines have gone on. It takes longer than all else that they wait for.
 */
import type { GroupPlace } from "./file-store.js";
import type { LineGroup } from "./group-commit.js";

/** Hears of lines that are durable. */
export interface AfterRelease {
  /** Keeps a copy of the lines until they are told. */
  take(group: LineGroup, at: GroupPlace): void;
  /** Tells of all that was taken and not told yet, now. */
  flush(): void;
}

/** @param tell - Hears every group in order; must not throw. */
export function createAfterRelease(tell: (group: LineGroup, at: GroupPlace) => void): AfterRelease {
  let waiting: (readonly [LineGroup, GroupPlace])[] = [];
  const flush = (): void => {
    const all = waiting;
    waiting = [];
    for (const [group, at] of all) tell(group, at);
  };
  return {
    take(group, at) {
      // In the turn after the next one: in that, what was released is sent.
      if (waiting.length === 0) setImmediate(() => setImmediate(flush));
      waiting.push([{ ...group, bytes: Buffer.from(group.bytes) }, at]);
    },
    flush,
  };
}

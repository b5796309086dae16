/**
 * After release: what is kept of lines beside the log itself, such as the index and the tree of its
 * checkpoints, is done once those who waited for the lines have gone on. It takes longer than all
 * else that they wait for.
 */
import type { EventFacts } from "./event-facts.js";
import type { GroupPlace } from "./file-store.js";
import type { LineGroup } from "./group-commit.js";
import { leafText } from "./merkle.js";

/** Lines that are durable, with what all who keep something of them need. */
export interface KeptGroup extends LineGroup {
  readonly lines: readonly KeptLine[];
}

/** One line, `bytes[start, end)` without its newline. */
export interface KeptLine {
  readonly start: number;
  readonly end: number;
  /** Its hash in a tree, as `leafText` gives it: made once for all trees. */
  readonly leaf: string;
  /** Left out where it has to be read in the line. */
  readonly facts: EventFacts | undefined;
}

/** Hears of lines that are durable. */
export interface AfterRelease {
  /** Keeps a copy of the lines until they are told. */
  take(group: LineGroup, at: GroupPlace): void;
  /** Tells of all that was taken and not told yet, now. */
  flush(): void;
}

/** Up to here the memory of copies is used again. */
const COPY_BYTES_MAX: number = 1024 * 1024;

/** @param tell - Hears every group in order; must not throw. */
export function createAfterRelease(tell: (group: KeptGroup, at: GroupPlace) => void): AfterRelease {
  let waiting: (readonly [LineGroup, GroupPlace])[] = [];
  let memory: Buffer = Buffer.alloc(64 * 1024);
  let used = 0;
  const copyOf = (bytes: Buffer): Buffer => {
    if (used + bytes.length > memory.length) {
      // What was copied so far keeps the memory that it is in.
      memory = Buffer.alloc(Math.max(2 * memory.length, bytes.length));
      used = 0;
    }
    const from = used;
    used += bytes.copy(memory, from);
    return memory.subarray(from, used);
  };
  const flush = (): void => {
    const all = waiting;
    waiting = [];
    for (const [group, at] of all) tell({ ...group, lines: linesOf(group) }, at);
    used = 0;
    if (memory.length > COPY_BYTES_MAX) memory = Buffer.alloc(COPY_BYTES_MAX);
  };
  return {
    take(group, at) {
      // In the turn after the next one: in that, what was released is sent.
      if (waiting.length === 0) setImmediate(() => setImmediate(flush));
      waiting.push([{ ...group, bytes: copyOf(group.bytes) }, at]);
    },
    flush,
  };
}

const NEWLINE = 0x0a;

function linesOf({ bytes, facts = [] }: LineGroup): readonly KeptLine[] {
  const lines: KeptLine[] = [];
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    lines.push({ start, end, leaf: leafText(bytes, start, end), facts: facts[lines.length] });
    start = end + 1;
  }
  return lines;
}

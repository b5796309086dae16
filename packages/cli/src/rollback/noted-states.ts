/**
 * Noted states: what the home's logs say of the files that carry consent, over all of them. Looking
 * again reads what was written since, so that a running gate knows what any other process saved.
 */
import { keepNewest, readStateMarks, STATE_EVENT_TYPES } from "@acp/core/unstable";
import type { StateKind } from "@acp/core/unstable";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { decodeEvent, readLastMarks } from "@acp/audit";
import type { AuditLog, LastMarks, LoggedMark } from "@acp/audit";
import { createKeptReading, onceATurn } from "@acp/home";
import type { HomePaths } from "@acp/home";
import { readIndexKey } from "../logs/index-key.js";
import { listAuditFiles } from "../logs/log-files.js";

/** The newest state of a file, and where it is noted. */
export interface NotedState extends LoggedMark {
  /** Path of the log. */
  readonly log: string;
}

/** The newest state of each kind; those of which no log says anything are absent. */
export type NotedStates = ReadonlyMap<StateKind, NotedState>;

/** Follows what is noted. */
export interface NotedFollower {
  /**
   * What is noted now: by a look that begins after this call.
   *
   * @throws ConsentError `audit_failed` or `home_invalid` where a log cannot be read.
   */
  newest(): Promise<NotedStates>;
  /** This process writes a log, and knows what in it notes no state: that is not read again. */
  own(log: OwnLog): void;
}

/** A log that this process writes. */
export type OwnLog = Pick<AuditLog, "path" | "plainTail">;

/** More than this is looked up by the index. */
const TAIL_BYTES_MAX: number = 4 * 1024 * 1024;
const CHUNK_BYTES: number = 64 * 1024;
const NEWLINE = 0x0a;
/** In the canonical form the type of an event stands before all that may be long. */
const HEAD_BYTES: number = 8 * 1024;
const TYPE = '"event_type":"';
const MARKERS = STATE_EVENT_TYPES.map((type) => `${TYPE}${type}"`);

/** What is noted now. */
export function readNotedStates(home: Pick<HomePaths, "dir" | "keysDir">): Promise<NotedStates> {
  return followNotedStates(home).newest();
}

/** One log, as far as it was read. */
interface Known {
  readonly inode: bigint;
  /** Behind the last line that was read. */
  readonly end: number;
  readonly marks: LastMarks;
}

/** Follows the logs of a home. */
export function followNotedStates(home: Pick<HomePaths, "dir" | "keysDir">): NotedFollower {
  const logs = new Map<string, Known>();
  const own = new Map<string, OwnLog>();
  const list = createKeptReading(home.dir, () => listAuditFiles(home.dir));
  let last: Promise<unknown> = Promise.resolve();
  /** The look that has not begun: all who ask before it does share it. */
  let next: Promise<NotedStates> | undefined;
  const look = async (): Promise<NotedStates> => {
    next = undefined;
    const newest = new Map<StateKind, NotedState>();
    for (const path of await list()) {
      const known = await follow(home, path, { known: logs.get(path), own: own.get(path) });
      logs.set(path, known);
      for (const mark of known.marks.values()) keepNewest(newest, { ...mark, log: path });
    }
    return newest;
  };
  return {
    newest() {
      next ??= last.then(look, look);
      last = next;
      return next;
    },
    own: (log) => void own.set(log.path, log),
  };
}

/** In one turn of the event loop for all who ask. */
const lookAt = onceATurn((path: string): { readonly inode: bigint; readonly size: number } => {
  const { ino: inode, size } = statSync(path, { bigint: true });
  return { inode, size: Number(size) };
});

async function follow(
  home: Pick<HomePaths, "keysDir">,
  path: string,
  { known: before, own }: { readonly known: Known | undefined; readonly own: OwnLog | undefined },
): Promise<Known> {
  const { inode, size } = lookAt(path);
  const known = behindPlain(before, own, size);
  if (known?.inode === inode && known.end <= size && size - known.end <= TAIL_BYTES_MAX) {
    const more = readTail(path, known, size);
    if (more !== undefined) return more;
  }
  // Before it is read: what comes meanwhile is read again.
  const end = lastLineEnd(path, size);
  return { inode, end, marks: await readLastMarks(path, { indexKey: await readIndexKey(home) }) };
}

/** What this process wrote behind what was read, where that is all that there is to know of it. */
function behindPlain(
  known: Known | undefined,
  own: OwnLog | undefined,
  size: number,
): Known | undefined {
  if (known === undefined || own === undefined) return known;
  const { inode, from, to } = own.plainTail();
  const isNext = inode === known.inode && from <= known.end && known.end < Math.min(to, size);
  // A line that is half there yet: what follows is looked up where it cannot be skipped, too.
  return isNext ? { ...known, end: Math.min(to, size) } : known;
}

/** `undefined` where a line is none that a mark could be read from: then all is looked up. */
function readTail(path: string, known: Known, size: number): Known | undefined {
  if (size === known.end) return known;
  const bytes = readRange(path, known.end, size);
  const length = bytes.lastIndexOf(NEWLINE) + 1;
  const marks = new Map(known.marks);
  for (let from = 0, end = 0; from < length; from = end + 1) {
    end = bytes.indexOf(NEWLINE, from);
    if (!mayMark(bytes.subarray(from, Math.min(end, from + HEAD_BYTES)))) continue;
    const decoded = decodeEvent(bytes.toString("utf8", from, end));
    if (!decoded.ok) return undefined;
    const { event } = decoded;
    for (const mark of readStateMarks(event)) keepNewest(marks, { ...mark, event });
  }
  return { ...known, end: known.end + length, marks };
}

/** Whether a line that begins like this may note a state. */
const mayMark = (head: Buffer): boolean =>
  !head.includes(TYPE) || MARKERS.some((marker) => head.includes(marker));

/** Where the last whole line ends. */
function lastLineEnd(path: string, size: number): number {
  for (let end = size; end > 0; end -= Math.min(end, CHUNK_BYTES)) {
    const start = Math.max(0, end - CHUNK_BYTES);
    const at = readRange(path, start, end).lastIndexOf(NEWLINE);
    if (at !== -1) return start + at + 1;
  }
  return 0;
}

/** For one reading after another: memory of its own for each keeps the garbage collector busy. */
const chunk: Buffer = Buffer.alloc(CHUNK_BYTES);

/**
 * The bytes, good until the next reading.
 *
 * Synchronous: every call of a gate reads the lines that it wrote itself, which are in memory, and
 * the way to another thread and back costs more than they do.
 */
function readRange(path: string, start: number, end: number): Buffer {
  const handle = openSync(path, "r");
  try {
    const buffer = end - start <= CHUNK_BYTES ? chunk : Buffer.alloc(end - start);
    return buffer.subarray(0, readSync(handle, buffer, 0, end - start, start));
  } finally {
    closeSync(handle);
  }
}

/**
 * Noted states: what the home's logs say of the files that carry consent, over all of them. Looking
 * again reads what was written since, so that a running gate knows what any other process saved.
 */
import { keepNewest, readStateMarks, STATE_EVENT_TYPES } from "@acp/core/unstable";
import type { StateKind } from "@acp/core/unstable";
import { open, stat } from "node:fs/promises";
import { decodeEvent, readLastMarks } from "@acp/audit";
import type { LastMarks, LoggedMark } from "@acp/audit";
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
  /** @throws ConsentError `audit_failed` or `home_invalid` where a log cannot be read. */
  newest(): Promise<NotedStates>;
}

/** More than this is looked up by the index. */
const TAIL_BYTES_MAX: number = 4 * 1024 * 1024;
const CHUNK_BYTES: number = 64 * 1024;
const NEWLINE = 0x0a;
const MARKERS = STATE_EVENT_TYPES.map((type) => `"event_type":"${type}"`);

/** What is noted now. */
export function readNotedStates(home: Pick<HomePaths, "dir" | "keysDir">): Promise<NotedStates> {
  return followNotedStates(home).newest();
}

/** One log, as far as it was read. */
interface Known {
  readonly inode: number;
  /** Behind the last line that was read. */
  readonly end: number;
  readonly marks: LastMarks;
}

/** Follows the logs of a home. */
export function followNotedStates(home: Pick<HomePaths, "dir" | "keysDir">): NotedFollower {
  const logs = new Map<string, Known>();
  let last: Promise<unknown> = Promise.resolve();
  const look = async (): Promise<NotedStates> => {
    const newest = new Map<StateKind, NotedState>();
    for (const path of await listAuditFiles(home.dir)) {
      const known = await follow(home, path, logs.get(path));
      logs.set(path, known);
      for (const mark of known.marks.values()) keepNewest(newest, { ...mark, log: path });
    }
    return newest;
  };
  return {
    newest() {
      const next = last.then(look, look);
      last = next;
      return next;
    },
  };
}

async function follow(
  home: Pick<HomePaths, "keysDir">,
  path: string,
  known: Known | undefined,
): Promise<Known> {
  const { ino: inode, size } = await stat(path);
  if (known?.inode === inode && known.end <= size && size - known.end <= TAIL_BYTES_MAX) {
    const more = await readTail(path, known, size);
    if (more !== undefined) return more;
  }
  // Before it is read: what comes meanwhile is read again.
  const end = await lastLineEnd(path, size);
  return { inode, end, marks: await readLastMarks(path, { indexKey: await readIndexKey(home) }) };
}

/** `undefined` where a line is none that a mark could be read from: then all is looked up. */
async function readTail(path: string, known: Known, size: number): Promise<Known | undefined> {
  if (size === known.end) return known;
  const bytes = await readRange(path, known.end, size);
  const length = bytes.lastIndexOf(NEWLINE) + 1;
  const marks = new Map(known.marks);
  for (const line of bytes.toString("utf8", 0, length).split("\n")) {
    if (!MARKERS.some((marker) => line.includes(marker))) continue;
    const decoded = decodeEvent(line);
    if (!decoded.ok) return undefined;
    const { event } = decoded;
    for (const mark of readStateMarks(event)) keepNewest(marks, { ...mark, event });
  }
  return { ...known, end: known.end + length, marks };
}

/** Where the last whole line ends. */
async function lastLineEnd(path: string, size: number): Promise<number> {
  for (let end = size; end > 0; end -= Math.min(end, CHUNK_BYTES)) {
    const start = Math.max(0, end - CHUNK_BYTES);
    const at = (await readRange(path, start, end)).lastIndexOf(NEWLINE);
    if (at !== -1) return start + at + 1;
  }
  return 0;
}

async function readRange(path: string, start: number, end: number): Promise<Buffer> {
  await using handle = await open(path);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), {
    position: start,
    length: end - start,
  });
  return buffer.subarray(0, bytesRead);
}

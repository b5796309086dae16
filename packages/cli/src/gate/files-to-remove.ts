/**
 * Files to remove: which full files of a log are too many, too old, or make the logs of the home
 * too large. Removes nothing.
 */
import { stat } from "node:fs/promises";
import { listArchives, readLastEventMs } from "@acp/audit";
import { keptTerms } from "../logs/kept-terms.js";
import type { Retention } from "../logs/kept-terms.js";
import { listAuditFiles } from "../logs/log-files.js";

/** Each is read to verify it: a home that was never pruned must not keep its gate busy. */
const AT_ONCE_MAX = 4;

/**
 * Clients whose resident died ask the next one how far their calls came, and that prunes when it
 * starts: the log has to reach back over a loss, half a minute in which a client waits, the minute
 * in which what was left open ends, and the minute by which a clock may be off.
 */
const RECENT_MS = 600_000;

/** A full file of a log. */
interface FullFile {
  readonly log: string;
  /** Number of its first event. */
  readonly firstSeq: number;
  readonly bytes: number;
  /** Wall time of its last event. */
  readonly lastMs: number;
}

/** What goes of a log. */
export interface FilesToRemove {
  /** How many of its full files stay, at least one. */
  readonly keepFiles: number;
  /** Number of the first event that stays. */
  readonly firstKept: number;
}

/**
 * What is to be removed of a log now; `undefined` for nothing. Ages are counted from the last event
 * of the newest full file, or from now where that is earlier: neither a log that nobody writes nor a
 * clock that jumps ahead makes everything old. A file with an event of the last ten minutes stays,
 * whatever says that it goes.
 *
 * @param home - The home's directory: all of its logs count for the size.
 * @throws ConsentError `audit_failed` where a file cannot be read.
 */
export async function filesToRemove(
  home: string,
  log: string,
  retention: Retention,
): Promise<FilesToRemove | undefined> {
  const { keepFiles, keepMs, keepBytes } = keptTerms(retention);
  const all = await fullFilesOf(home);
  const own = all.filter((file) => file.log === log);
  if (own.length < 2) return undefined;
  const nowMs = Math.min(Date.now(), own.at(-1)?.lastMs ?? Infinity);
  const tooOld = own.filter(({ lastMs }) => lastMs < nowMs - keepMs).length;
  const tooLarge = await tooLargeOf(home, all, keepBytes);
  const tooMany = [own.length - keepFiles, tooOld, tooLarge.get(log) ?? 0];
  const recent = own.findIndex(({ lastMs }) => Math.abs(Date.now() - lastMs) < RECENT_MS);
  const old = recent === -1 ? own.length - 1 : recent;
  const left = Math.min(Math.max(0, ...tooMany), old, own.length - 1, AT_ONCE_MAX);
  const first = own[left];
  return left === 0 || first === undefined
    ? undefined
    : { keepFiles: own.length - left, firstKept: first.firstSeq };
}

/** Full files of all logs of a home, each log's in its order. */
async function fullFilesOf(home: string): Promise<readonly FullFile[]> {
  const files: FullFile[] = [];
  for (const log of await listAuditFiles(home))
    for (const { path, firstSeq } of await listArchives(log)) {
      const [{ size: bytes }, lastMs] = await Promise.all([stat(path), readLastEventMs(path)]);
      // One without an event is not known to be old.
      files.push({ log, firstSeq, bytes, lastMs: lastMs ?? Infinity });
    }
  return files;
}

/** How many files of each log go, the oldest of the home first, until the rest is small enough. */
async function tooLargeOf(
  home: string,
  files: readonly FullFile[],
  keepBytes: number,
): Promise<ReadonlyMap<string, number>> {
  const current = await Promise.all(
    (await listAuditFiles(home)).map(async (path) => (await stat(path)).size),
  );
  const sizes = [...current, ...files.map(({ bytes }) => bytes)];
  let over = sizes.reduce((sum, bytes) => sum + bytes, 0) - keepBytes;
  const count = new Map<string, number>();
  for (const { log, bytes } of files.toSorted((one, other) => one.lastMs - other.lastMs)) {
    if (over <= 0) break;
    over -= bytes;
    count.set(log, (count.get(log) ?? 0) + 1);
  }
  return count;
}

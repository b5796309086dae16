/**
 * Rebuild: brings the index of a log that nobody writes up to the log's end, in slices, so that who
 * serves others can do it. The log itself stays as it is. Killed at any moment, the next one goes on
 * from the last record that was written.
 */
import { systemClock } from "@acp/core";
import { nextSeq } from "../event-line.js";
import { lockWriter } from "../lock.js";
import { openParts } from "../log-parts.js";
import { readEndOf } from "../open-tail.js";
import { isOfLog, readLastRecord } from "./index-file.js";
import { withIndex } from "./index-reader.js";
import { openIndexWriter } from "./index-writer.js";

/** How far the index of a log comes. */
export interface IndexCoverage {
  /** Bytes of all files of the log. */
  readonly bytes: number;
  /** Bytes before the end of the last record that counts; the others are read by whoever opens it. */
  readonly covered: number;
}

/**
 * How far the index of a log comes, from its last record and the line of the log that this is about.
 *
 * @param key - {@link AuditLogOptions.indexKey}.
 * @throws ConsentError `audit_failed` where the log cannot be read.
 */
export async function readIndexCoverage(path: string, key: Uint8Array): Promise<IndexCoverage> {
  await using log = await openParts(path);
  const { parts, bytesTotal: bytes } = log;
  const covered = await withIndex({ path }, async (handle) => {
    const record = (await readLastRecord(handle, path, key))?.record;
    if (record?.state() === undefined || !(await isOfLog(record.stretch, parts))) return 0;
    let before = 0;
    for (const part of parts) {
      if ((await part.startSeq()) === record.stretch.file) return before + record.stretch.to;
      before += part.size;
    }
    return 0;
  });
  return { bytes, covered: covered ?? 0 };
}

/** Options of {@link rebuildAuditIndex}. */
export interface RebuildOptions {
  /** {@link AuditLogOptions.indexKey}. */
  readonly indexKey: Uint8Array;
  /** Ends it early; what is there by then stays. */
  readonly signal?: AbortSignal;
  /** Hears how many bytes were read since it was called last. */
  readonly onRead?: (bytes: number) => void;
}

/**
 * Makes what the index of a log lacks. Takes the log's lock for as long as it lasts, and at most
 * some 10 ms of the process's time at once.
 *
 * @returns Whether the index comes to the log's end now; false also where a line is not good, which
 *   is for who opens the log to say.
 * @throws ConsentError `audit_busy` where somebody writes the log, and so its index; `audit_failed`
 *   where it cannot be read.
 */
export async function rebuildAuditIndex(
  path: string,
  { indexKey: key, signal, onRead }: RebuildOptions,
): Promise<boolean> {
  const lock = await lockWriter(path);
  try {
    const end = await readEndOf(path);
    const writer = await openIndexWriter({
      path,
      key,
      now: () => systemClock.now(),
      nextSeq: nextSeq(end?.head),
      signal,
      onRead,
    });
    await writer?.written();
    await writer?.close();
    return writer !== undefined;
  } finally {
    await lock.release();
  }
}

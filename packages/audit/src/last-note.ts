/**
 * Last note: the last event that says how the vault stands, found by the index of a log and the few
 * lines behind it.
 */
import { decodeEvent } from "./codec.js";
import type { AuditEvent } from "./event.js";
import { lineText } from "./lines.js";
import { isOfLog, partOf, readLastRecord } from "./log-index/index-file.js";
import { type Skip, withIndex } from "./log-index/index-reader.js";
import type { NoteAt } from "./log-index/record.js";
import { type LogPart, type LogParts, openParts } from "./log-parts.js";
import { readParts, type ReadOptions } from "./read.js";

const EVENT_TYPE = "vault_changed";

/**
 * The latest `vault_changed` event of a log by its time; of two with one time the later one.
 *
 * @returns `undefined` where there is none.
 * @throws ConsentError `audit_failed` as readAuditLog() does.
 */
export async function readLastVaultChange(
  path: string,
  { indexKey, signal }: Omit<ReadOptions, "filter"> = {},
): Promise<AuditEvent | undefined> {
  await using log = await openParts(path, signal);
  const known = indexKey === undefined ? undefined : await findNoted(log, path, indexKey);
  const skips = known?.skips ?? [];
  let newest = known?.noted;
  for await (const { event } of readParts(log, { path, filter: { eventType: EVENT_TYPE }, skips }))
    if (newest === undefined || event.atMs >= newest.atMs) newest = event;
  return newest;
}

interface Noted {
  readonly noted: AuditEvent | undefined;
  /** All that the index covers. */
  readonly skips: readonly Skip[];
}

/** What the index says; `undefined` where it says nothing that holds. */
function findNoted(log: LogParts, path: string, key: Uint8Array): Promise<Noted | undefined> {
  return withIndex({ path }, async (handle) => {
    const last = (await readLastRecord(handle, path, key))?.record;
    const state = last?.state();
    if (last === undefined || state === undefined || !(await isOfLog(last, log.parts)))
      return undefined;
    const note = state.notes.vault;
    const noted = note === undefined ? undefined : await readNote(log.parts, note);
    // Retention removed it, or somebody changed it: the log says what counts.
    if (note !== undefined && noted === undefined) return undefined;
    const skips: Skip[] = [];
    for (const part of log.parts) {
      const file = await part.startSeq();
      if (file === undefined || file > last.stretch.file) break;
      const to = file === last.stretch.file ? last.stretch.to : part.size;
      skips.push({ file, from: 0, to, nextSeq: last.stretch.nextSeq, isBegun: false });
    }
    return { noted, skips };
  });
}

async function readNote(parts: readonly LogPart[], at: NoteAt): Promise<AuditEvent | undefined> {
  const part = await partOf(parts, at.file);
  if (part === undefined || part.size < at.to) return undefined;
  const decoded = decodeEvent(lineText(await part.read(at.from, at.to - 1)) ?? "");
  return decoded.ok && decoded.event.eventType === EVENT_TYPE ? decoded.event : undefined;
}

/**
 * Last marks: the newest state of each file of a home that a log notes, found by the index of the
 * log and the few lines behind it.
 */
import { keepNewest, readStateMarks, STATE_EVENT_TYPES } from "@acp/core/unstable";
import type { StateKind, StateMark } from "@acp/core/unstable";
import { decodeEvent } from "./codec.js";
import type { AuditEvent } from "./event.js";
import { lineText } from "./lines.js";
import { isOfLog, partOf, readLastRecord } from "./log-index/index-file.js";
import { type Skip, withIndex } from "./log-index/index-reader.js";
import type { LogState } from "./log-index/record.js";
import { type LogPart, type LogParts, openParts } from "./log-parts.js";
import { readParts, type ReadOptions } from "./read.js";

/** A state, and the event that notes it. */
export interface LoggedMark extends StateMark {
  /** What the log says. */
  readonly event: AuditEvent;
}

/** The newest state of each kind; those that a log says nothing of are absent. */
export type LastMarks = ReadonlyMap<StateKind, LoggedMark>;

/**
 * The newest state of each file of a home by its counter; of two with one counter the later one.
 *
 * @throws ConsentError `audit_failed` as readAuditLog() does.
 */
export async function readLastMarks(
  path: string,
  { indexKey, signal }: Omit<ReadOptions, "filter"> = {},
): Promise<LastMarks> {
  await using log = await openParts(path, signal);
  const known = indexKey === undefined ? undefined : await findNoted(log, path, indexKey);
  const newest = new Map<StateKind, LoggedMark>();
  for (const event of known?.events ?? []) addMarks(newest, event);
  const skips = known?.skips ?? [];
  const findSkips = (): Promise<readonly Skip[]> => Promise.resolve(skips);
  const options = { path, filter: { eventType: STATE_EVENT_TYPES }, findSkips };
  for await (const { event } of readParts(log, options)) addMarks(newest, event);
  return newest;
}

/** Adds what an event notes, where that is newer. */
function addMarks(newest: Map<StateKind, LoggedMark>, event: AuditEvent): void {
  for (const mark of readStateMarks(event)) keepNewest(newest, { ...mark, event });
}

interface Noted {
  readonly events: readonly AuditEvent[];
  /** All that the index covers. */
  readonly skips: readonly Skip[];
}

/** What the index says; `undefined` where it says nothing that holds. */
function findNoted(log: LogParts, path: string, key: Uint8Array): Promise<Noted | undefined> {
  return withIndex({ path }, async (handle) => {
    const last = (await readLastRecord(handle, path, key))?.record;
    const state = last?.state();
    if (last === undefined || state === undefined || !(await isOfLog(last.stretch, log.parts)))
      return undefined;
    const events = await readNoted(log.parts, state);
    // Retention removed it, or somebody changed it: the log says what counts.
    if (events === undefined) return undefined;
    const skips: Skip[] = [];
    for (const part of log.parts) {
      const file = await part.startSeq();
      if (file === undefined || file > last.stretch.file) break;
      const to = file === last.stretch.file ? last.stretch.to : part.size;
      skips.push({ file, from: 0, to, nextSeq: last.stretch.nextSeq, isBegun: false });
    }
    return { events, skips };
  });
}

async function readNoted(
  parts: readonly LogPart[],
  { notes }: LogState,
): Promise<readonly AuditEvent[] | undefined> {
  const events: AuditEvent[] = [];
  for (const [kind, at] of Object.entries(notes)) {
    if (kind === "policy") continue;
    const part = await partOf(parts, at.file);
    if (part === undefined || part.size < at.to) return undefined;
    const decoded = decodeEvent(lineText(await part.read(at.from, at.to - 1)) ?? "");
    if (!decoded.ok || !readStateMarks(decoded.event).some((mark) => mark.kind === kind))
      return undefined;
    events.push(decoded.event);
  }
  return events;
}

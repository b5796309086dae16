/**
 * Index builder: takes the lines of a log in order and makes a record of every thousand. Holds no
 * lines: what it needs of memory does not grow with the log.
 */
import type { AuditReceipt, JsonObject } from "@acp/core";
import { readStateMarks, STATE_EVENT_TYPES } from "@acp/core/unstable";
import { parseEvent } from "../codec.js";
import { lineText } from "../lines.js";
import { isWorkEvent, type OpenWork, trackOpenWork, writeOpenWork } from "../open-work.js";
import { growTree } from "../tree-edge.js";
import { makeKeyFilter } from "./key-filter.js";
import { kindOf, type LineFields, ownKeysOf, readLineFields, sharedKeysOf } from "./line-fields.js";
import type { LogState, NoteAt, NoteKind, Stretch } from "./record.js";

/** Where the lines of a log end that are indexed. */
export interface BuilderStart {
  /** Last event before the first line that is added; `undefined` at the start of a log. */
  readonly head: AuditReceipt | undefined;
  readonly state: LogState;
}

/** A stretch with its filter and how the log stands behind it. */
export interface BuiltRecord {
  readonly stretch: Stretch;
  readonly filter: Uint8Array;
  readonly state: LogState;
}

/** Makes the records of a log. */
export interface IndexBuilder {
  /**
   * Adds a good line, which follows the one before; false where it cannot be indexed, and then
   * nothing more may be added.
   *
   * @param line - `bytes[start, end)` without its newline; it stands at `from` of the file `file`.
   */
  add(line: AddedLine): boolean;
  /** Makes a record of what was added since the last one; `undefined` where nothing was. */
  seal(checkedMs: number): BuiltRecord | undefined;
  /** Events added since the last record, and the file that they stand in. */
  pending(): { readonly events: number; readonly file: number } | undefined;
  head(): AuditReceipt | undefined;
  state(): LogState;
  work(): OpenWork;
}

/** A line that is added. */
export interface AddedLine {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly file: number;
  readonly from: number;
}

/** The newest event of these says how a file of the home stands. */
const STATE_EVENTS: ReadonlySet<string> = new Set(STATE_EVENT_TYPES);

interface Pending {
  readonly file: number;
  readonly from: number;
  readonly seq: number;
  readonly previousHash: string | null;
  readonly keys: Set<string>;
  /** Of the events whose shared keys are there. */
  readonly kinds: Set<string>;
  minMs: number;
  maxMs: number;
  to: number;
  lastFrom: number;
}

function startPending(
  { file, from }: AddedLine,
  { seq, previousHash, atMs }: Pick<Pending, "seq" | "previousHash"> & { readonly atMs: number },
): Pending {
  const place = { file, from, seq, previousHash, to: from, lastFrom: from };
  return { ...place, keys: new Set(), kinds: new Set(), minMs: atMs, maxMs: atMs };
}

function addKeys({ keys, kinds }: Pending, fields: LineFields): void {
  for (const key of ownKeysOf(fields)) keys.add(key);
  const kind = kindOf(fields);
  if (!kinds.has(kind)) for (const key of sharedKeysOf(fields)) keys.add(key);
  kinds.add(kind);
}

/** Goes on from where an index ends, or starts one. */
export function createIndexBuilder(start: BuilderStart): IndexBuilder {
  const tree = growTree(start.state.edge);
  const work = trackOpenWork(start.state.work);
  const notes: Partial<Record<NoteKind, NoteAt>> = { ...start.state.notes };
  let { head } = start;
  let pending: Pending | undefined;

  const state = (): LogState => ({
    edge: tree.edge(),
    work: writeOpenWork(work),
    notes: { ...notes },
  });

  function follow(line: AddedLine, fields: LineFields, at: NoteAt): void {
    const { eventType } = fields;
    const isNotice = eventType === "gate_notice";
    if (!isWorkEvent(eventType)) work.pass();
    if (!isWorkEvent(eventType) && !isNotice && !STATE_EVENTS.has(eventType)) return;
    const event = parseEvent(lineText(line.bytes.subarray(line.start, line.end)) ?? "");
    if (isWorkEvent(eventType)) work.add(event);
    const { notice } = event.metadata;
    if (isNotice && typeof notice === "string" && notice.startsWith("policy_")) notes.policy = at;
    // The newest state has the highest counter: one that is carried on may stand behind it.
    for (const { kind, counter } of readStateMarks(event))
      if (counter >= (notes[kind]?.counter ?? 0)) notes[kind] = { ...at, counter };
  }

  return {
    add(line) {
      const { bytes, start: from, end, file } = line;
      const fields = readLineFields(bytes, from, end);
      if (fields === undefined) return false;
      const seq = head === undefined ? 0 : head.seq + 1;
      const to = line.from + (end - from) + 1;
      pending ??= startPending(line, { seq, previousHash: head?.hash ?? null, atMs: fields.atMs });
      addKeys(pending, fields);
      pending.minMs = Math.min(pending.minMs, fields.atMs);
      pending.maxMs = Math.max(pending.maxMs, fields.atMs);
      [pending.to, pending.lastFrom] = [to, line.from];
      tree.add(bytes, from, end);
      follow(line, fields, { file, from: line.from, to, seq, atMs: fields.atMs });
      head = { seq, hash: fields.hash };
      return true;
    },
    seal(checkedMs) {
      if (pending === undefined || head === undefined) return undefined;
      const { keys, kinds: _kinds, ...place } = pending;
      const stretch = { ...place, nextSeq: head.seq + 1, hash: head.hash, checkedMs };
      pending = undefined;
      return { stretch, filter: makeKeyFilter(keys), state: state() };
    },
    pending: () =>
      pending === undefined || head === undefined
        ? undefined
        : { events: head.seq + 1 - pending.seq, file: pending.file },
    head: () => head,
    state,
    work: () => work,
  };
}

/** How a log stands before its first event. */
export const EMPTY_STATE: LogState = {
  edge: { size: 0, hashes: [] },
  work: {} satisfies JsonObject,
  notes: {},
};

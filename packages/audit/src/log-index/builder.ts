/**
 * Index builder: takes the lines of a log in order and makes a record of every thousand. Holds no
 * lines: what it needs of memory does not grow with the log.
 */
import { createHash, type Hash } from "node:crypto";
import type { AuditReceipt, JsonObject } from "@acp/core";
import { readStateMarks } from "@acp/core/unstable";
import { parseEvent } from "../codec.js";
import { STATE_EVENTS } from "../event-facts.js";
import { lineText } from "../lines.js";
import { isWorkEvent, type OpenWork, trackOpenWork, writeOpenWork } from "../open-work.js";
import { growTree } from "../tree-edge.js";
import { type LineFields, readForwardedSeq, readLineFields } from "./line-fields.js";
import type { TableContent } from "./lookup-table.js";
import type { LogState, NoteAt, NoteKind, Stretch } from "./record.js";
import { type AddedLine, createStretchBuilder } from "./stretch-builder.js";

/** Where the lines of a log end that are indexed. */
export interface BuilderStart {
  /** Last event before the first line that is added; `undefined` at the start of a log. */
  readonly head: AuditReceipt | undefined;
  readonly state: LogState;
}

/** A stretch with its table and how the log stands behind it. */
export interface BuiltRecord {
  readonly stretch: Stretch;
  readonly table: TableContent;
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

/** Goes on from where an index ends, or starts one. */
export function createIndexBuilder(start: BuilderStart, spanLines?: number): IndexBuilder {
  const tree = growTree(start.state.edge);
  const work = trackOpenWork(start.state.work);
  const notes: Partial<Record<NoteKind, NoteAt>> = { ...start.state.notes };
  const stretches = createStretchBuilder(start.head, spanLines);
  let digest = createHash("sha256");

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
    if (followCall(work, line, { ...fields, seq: at.seq })) return;
    const event = parseEvent(textOf(line));
    if (isWorkEvent(eventType)) work.add(event);
    const { notice } = event.metadata;
    if (isNotice && typeof notice === "string" && notice.startsWith("policy_")) notes.policy = at;
    // The newest state has the highest counter: one that is carried on may stand behind it.
    for (const { kind, counter } of readStateMarks(event))
      if (counter >= (notes[kind]?.counter ?? 0)) notes[kind] = { ...at, counter };
  }

  return {
    add(line) {
      const { bytes, start: from, end, file, leaf, facts } = line;
      const fields = facts ?? readLineFields(bytes, from, end);
      if (fields === undefined) return false;
      const at = stretches.add(line, fields);
      if (leaf === undefined) tree.add(bytes, from, end);
      else tree.addHash(leaf);
      addLine(digest, line);
      follow(line, fields, { file, from: line.from, to: at.to, seq: at.seq, atMs: fields.atMs });
      return true;
    },
    seal(checkedMs) {
      const table = stretches.seal();
      if (table === undefined) return undefined;
      const stretch = { ...table.stretch, digest: digest.digest("hex"), checkedMs };
      digest = createHash("sha256");
      return { stretch, table, state: state() };
    },
    pending: () => stretches.pending(),
    head: () => stretches.head(),
    state,
    work: () => work,
  };
}

const textOf = ({ bytes, start, end }: AddedLine): string =>
  lineText(bytes.subarray(start, end)) ?? "";

/**
 * The beginning and the end of a call, which nearly all calls have and nobody asks for in between;
 * false for what is none, or has to be read.
 */
function followCall(
  work: OpenWork,
  line: AddedLine,
  fields: Pick<LineFields, "eventType" | "requestId"> & { readonly seq: number },
): boolean {
  const { facts } = line;
  if (fields.eventType === "tool_call_forwarded") {
    // The bytes are others' by the time it is read.
    const text = facts === undefined ? textOf(line) : "";
    work.begin(fields, () =>
      facts === undefined
        ? parseEvent(text)
        : { ...facts, metadata: { isolation: facts.isolation } },
    );
    return true;
  }
  if (fields.eventType !== "tool_call_completed") return false;
  const seq =
    facts === undefined ? readForwardedSeq(line.bytes, line.start, line.end) : facts.forwardedSeq;
  if (seq === undefined) return false;
  work.finish(fields, seq);
  return true;
}

const NEWLINE = 0x0a;

/** With its newline, which follows it but in a line that is all there is. */
function addLine(digest: Hash, { bytes, start, end }: AddedLine): void {
  if (bytes[end] === NEWLINE) digest.update(bytes.subarray(start, end + 1));
  else digest.update(bytes.subarray(start, end)).update("\n");
}

/** How a log stands before its first event. */
export const EMPTY_STATE: LogState = {
  edge: { size: 0, hashes: [] },
  work: {} satisfies JsonObject,
  notes: {},
};

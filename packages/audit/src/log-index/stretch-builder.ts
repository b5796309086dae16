/**
 * Stretch builder: takes the lines of a log in order and makes the table of a stretch of them. Holds
 * no lines: what it needs of memory does not grow with the log.
 */
import type { AuditReceipt } from "@acp/core";
import type { EventFacts } from "../event-facts.js";
import type { LineFields } from "./line-fields.js";
import type { TableContent } from "./lookup-table.js";
import { collectKeys, type StretchKeys } from "./stretch-keys.js";

/** A line that is added. */
export interface AddedLine {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly file: number;
  readonly from: number;
  /** What is known of it already, so that it is not read for it. */
  readonly leaf?: string;
  readonly facts?: EventFacts | undefined;
}

/** Makes the tables of stretches. */
export interface StretchBuilder {
  /**
   * Adds a good line, which follows the one before.
   *
   * @param line - `bytes[start, end)` without its newline; it stands at `from` of the file `file`.
   */
  add(line: AddedLine, fields: LineFields): { readonly seq: number; readonly to: number };
  /** The table of what was added since the last one; `undefined` where nothing was. */
  seal(): TableContent | undefined;
  /** Events added since the last one, and the file that they stand in. */
  pending(): { readonly events: number; readonly file: number } | undefined;
  head(): AuditReceipt | undefined;
}

interface Pending {
  readonly file: number;
  readonly from: number;
  readonly seq: number;
  readonly previousHash: string | null;
  readonly keys: StretchKeys;
  minMs: number;
  maxMs: number;
  to: number;
  lastFrom: number;
}

/** @param before - The last event before the first line that is added; none at the log's start. */
export function createStretchBuilder(
  before: AuditReceipt | undefined,
  spanLines?: number,
): StretchBuilder {
  let head = before;
  let pending: Pending | undefined;
  return {
    add({ file, from, start, end }, fields) {
      const { atMs, hash } = fields;
      const seq = head === undefined ? 0 : head.seq + 1;
      const to = from + (end - start) + 1;
      const previousHash = head?.hash ?? null;
      const place = { file, from, seq, previousHash, to, lastFrom: from };
      pending ??= { ...place, keys: collectKeys(spanLines), minMs: atMs, maxMs: atMs };
      pending.keys.add(fields, to);
      pending.minMs = Math.min(pending.minMs, atMs);
      pending.maxMs = Math.max(pending.maxMs, atMs);
      [pending.to, pending.lastFrom] = [to, from];
      head = { seq, hash };
      return { seq, to };
    },
    seal() {
      if (pending === undefined || head === undefined) return undefined;
      const { keys, ...place } = pending;
      pending = undefined;
      const stretch = { ...place, nextSeq: head.seq + 1, hash: head.hash };
      return { stretch, rows: [keys.spans()], entries: keys.entries() };
    },
    pending: () =>
      pending === undefined || head === undefined
        ? undefined
        : { events: head.seq + 1 - pending.seq, file: pending.file },
    head: () => head,
  };
}

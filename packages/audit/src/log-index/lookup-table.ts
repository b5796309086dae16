/**
 * Look-up table: which keys the lines of some stretches of one file have, and where, so that one
 * small part of it is read for a key. Each part is sealed with the index's key, and belongs to its
 * table. Pure. Format: spec/audit-index.md §3.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { canonicalJson, isJsonObject } from "@acp/core";
import { bucketOf, type KeyHash } from "./key-hash.js";
import { isCount, readStretchPlace, type StretchPlace } from "./record.js";
import { ENTRY_BYTES, EVERYWHERE, MARK_AT, type Span, STRETCH_AT } from "./stretch-keys.js";

/** What a table says first. */
export interface TableHead extends StretchPlace {
  readonly stretches: number;
  readonly spans: number;
  /** How many entries each bucket has. */
  readonly buckets: readonly number[];
}

/** A head, with the seal that its parts name. */
export interface OpenedHead {
  readonly head: TableHead;
  readonly mac: string;
}

/** What a table is made of. */
export interface TableContent {
  readonly stretch: StretchPlace;
  /** Of each stretch. */
  readonly rows: readonly (readonly Span[])[];
  /** In any order. */
  readonly entries: Buffer;
}

/** Where keys are: the number of the stretch times 256, and the one of the span. */
export type KeyPlaces = ReadonlySet<number>;

/** A longer head is none. */
export const HEAD_BYTES_MAX: number = 256 * 1024;
/** Stretches of a table: their number is one byte. */
export const STRETCHES_MAX = 255;

const VERSION = 1;
const SEPARATOR = "\t";
const HEX_DIGITS = 64;
const ENTRIES_A_BUCKET = 512;
const MAC_BYTES = 16;
const SPAN_BYTES = 28;
/** What the number of a stretch counts for. */
const SPANS = 256;

/** The bytes of a table. */
export function sealTable({ stretch, rows, entries }: TableContent, key: Uint8Array): Buffer {
  const { buckets, sorted } = intoBuckets(entries);
  const spans = rows.reduce((sum, row) => sum + row.length, 0);
  const text = canonicalJson({ v: VERSION, ...stretch, stretches: rows.length, spans, buckets });
  const mac = macOf(text, key);
  const parts: Buffer[] = [Buffer.from(`${mac}${SEPARATOR}${text}\n`)];
  const add = (bytes: Buffer): void => {
    parts.push(bytes, partMac({ mac, number: (parts.length - 1) / 2, key }, bytes));
  };
  add(writeRows(rows));
  let from = 0;
  for (const count of buckets) {
    add(sorted.subarray(from, from + count * ENTRY_BYTES));
    from += count * ENTRY_BYTES;
  }
  return Buffer.concat(parts);
}

function intoBuckets(entries: Buffer): { readonly buckets: number[]; readonly sorted: Buffer } {
  const total = entries.length / ENTRY_BYTES;
  const many = Math.max(1, Math.ceil(total / ENTRIES_A_BUCKET));
  const buckets = Array.from({ length: many }, () => 0);
  const bucketAt = (at: number): number => bucketOf(entries.readUInt32BE(at), many);
  for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
    const bucket = bucketAt(at);
    buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  }
  let next = 0;
  const starts = buckets.map((count) => (next += count) - count);
  const sorted = Buffer.alloc(entries.length);
  for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
    const bucket = bucketAt(at);
    const to = starts[bucket] ?? 0;
    entries.copy(sorted, to * ENTRY_BYTES, at, at + ENTRY_BYTES);
    starts[bucket] = to + 1;
  }
  return { buckets, sorted };
}

/** The head on a line without its newline; `undefined` where nobody with the key wrote it. */
export function openHead(line: string, key: Uint8Array): OpenedHead | undefined {
  const mac = line.slice(0, HEX_DIGITS);
  const text = line.slice(HEX_DIGITS + 1);
  if (!isSame(Buffer.from(mac), Buffer.from(macOf(text, key)))) return undefined;
  const head = readHead(parse(text));
  return head === undefined ? undefined : { head, mac };
}

/** Where a part of a table is, behind its head: the rows are part 0, the buckets those after it. */
export function partAt(
  { spans, stretches, buckets }: TableHead,
  number: number,
): { readonly from: number; readonly to: number } {
  const rows = stretches + spans * SPAN_BYTES + MAC_BYTES;
  if (number === 0) return { from: 0, to: rows };
  let from = rows;
  for (const count of buckets.slice(0, number - 1)) from += count * ENTRY_BYTES + MAC_BYTES;
  return { from, to: from + (buckets[number - 1] ?? 0) * ENTRY_BYTES + MAC_BYTES };
}

/** Bytes behind the head. */
export function bodyBytes(head: TableHead): number {
  return partAt(head, head.buckets.length).to;
}

/** The bytes of a part without its seal; `undefined` where they are not those of this table. */
export function openPart(
  { mac }: OpenedHead,
  {
    number,
    bytes,
    key,
  }: { readonly number: number; readonly bytes: Buffer; readonly key: Uint8Array },
): Buffer | undefined {
  if (bytes.length < MAC_BYTES) return undefined;
  const own = bytes.subarray(0, -MAC_BYTES);
  const expected = partMac({ mac, number, key }, own);
  return isSame(bytes.subarray(-MAC_BYTES), expected) ? own : undefined;
}

/** Which part has a key's entries. */
export function partOfKey({ place }: KeyHash, { buckets }: TableHead): number {
  return 1 + bucketOf(place, buckets.length);
}

/** Where a key is, by the entries of its bucket. */
export function placesIn(entries: Buffer, { place, mark }: KeyHash): readonly number[] {
  const found: number[] = [];
  for (let at = 0; at + ENTRY_BYTES <= entries.length; at += ENTRY_BYTES)
    if (entries.readUInt32BE(at) === place && entries.readUInt16BE(at + MARK_AT) === mark)
      found.push(entries.readUInt16BE(at + STRETCH_AT));
  return found;
}

/** Whether the keys are in this span. */
export function isAt(places: KeyPlaces, stretch: number, span: number): boolean {
  return places.has(stretch * SPANS + span) || places.has(stretch * SPANS + EVERYWHERE);
}

/** Whether they are in every span of so many stretches. */
export function isEverywhere(places: KeyPlaces, stretches: number): boolean {
  for (let stretch = 0; stretch < stretches; stretch++)
    if (!places.has(stretch * SPANS + EVERYWHERE)) return false;
  return true;
}

function writeRows(rows: readonly (readonly Span[])[]): Buffer {
  const spans = rows.reduce((sum, row) => sum + row.length, 0);
  const bytes = Buffer.alloc(rows.length + spans * SPAN_BYTES);
  let at = 0;
  for (const row of rows) {
    at = bytes.writeUInt8(row.length, at);
    for (const { to, lines, minMs, maxMs } of row) {
      for (const number of [to, minMs, maxMs]) at = bytes.writeDoubleBE(number, at);
      at = bytes.writeUInt32BE(lines, at);
    }
  }
  return bytes;
}

/** A span, and which one it is. */
export interface RowSpan extends Readonly<Span> {
  /** Number of its stretch in the table, and its own in the stretch. */
  readonly stretch: number;
  readonly span: number;
}

/** The spans of a table, one after the other. */
export interface Rows {
  forEach(use: (span: RowSpan) => void): void;
}

/** Those of the part that has them. */
export function readRows(bytes: Buffer, { stretches }: Pick<TableHead, "stretches">): Rows {
  return {
    forEach(use) {
      let at = 0;
      for (let stretch = 0; stretch < stretches; stretch++) {
        const count = bytes.readUInt8(at++);
        for (let span = 0; span < count; span++, at += SPAN_BYTES)
          use({
            stretch,
            span,
            to: bytes.readDoubleBE(at),
            minMs: bytes.readDoubleBE(at + 8),
            maxMs: bytes.readDoubleBE(at + 16),
            lines: bytes.readUInt32BE(at + 24),
          });
      }
    },
  };
}

/** One table of several that follow each other in one file. */
export function joinContents(tables: readonly TableContent[]): TableContent | undefined {
  const [first] = tables;
  const last = tables.at(-1);
  if (first === undefined || last === undefined) return undefined;
  let before = 0;
  const entries = tables.map((table) => {
    const own = Buffer.from(table.entries);
    for (let at = STRETCH_AT; at < own.length; at += ENTRY_BYTES)
      own.writeUInt8(own.readUInt8(at) + before, at);
    before += table.rows.length;
    return own;
  });
  const { file, from, seq, previousHash } = first.stretch;
  const times = tables.map(({ stretch }) => stretch);
  return {
    stretch: {
      ...last.stretch,
      file,
      from,
      seq,
      previousHash,
      minMs: Math.min(...times.map(({ minMs }) => minMs)),
      maxMs: Math.max(...times.map(({ maxMs }) => maxMs)),
    },
    rows: tables.flatMap(({ rows }) => rows),
    entries: Buffer.concat(entries),
  };
}

const macOf = (text: string, key: Uint8Array): string =>
  createHmac("sha256", key).update(`lookup${SEPARATOR}${text}`).digest("hex");

function partMac(
  { mac, number, key }: { readonly mac: string; readonly number: number; readonly key: Uint8Array },
  bytes: Uint8Array,
): Buffer {
  const hash = createHmac("sha256", key).update(`part${SEPARATOR}${mac}${SEPARATOR}${number}\n`);
  return hash.update(bytes).digest().subarray(0, MAC_BYTES);
}

const isSame = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readHead(value: unknown): TableHead | undefined {
  if (!isJsonObject(value) || value["v"] !== VERSION) return undefined;
  const place = readStretchPlace(value);
  const { stretches, spans, buckets } = value;
  if (place === undefined || !isCount(stretches) || !isCount(spans)) return undefined;
  if (stretches === 0 || stretches > STRETCHES_MAX || spans > stretches * EVERYWHERE)
    return undefined;
  if (!Array.isArray(buckets) || buckets.length === 0) return undefined;
  const counts = buckets.filter(isCount);
  if (counts.length !== buckets.length) return undefined;
  return { ...place, stretches, spans, buckets: counts };
}

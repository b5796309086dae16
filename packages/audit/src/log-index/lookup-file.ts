/**
 * Look-up file: the tables beside a log, one after the other. Only what leads without a gap from the
 * first table to a line of the log as it is counts. Format: spec/audit-index.md §3.
 */
import type { FileHandle } from "node:fs/promises";
import { lineText } from "../lines.js";
import type { LogPart } from "../log-parts.js";
import { readRange } from "../tail.js";
import { isOfLog, openCache, partOf } from "./index-file.js";
import type { KeyHash } from "./key-hash.js";
import {
  bodyBytes,
  HEAD_BYTES_MAX,
  openHead,
  type OpenedHead,
  openPart,
  partAt,
  partOfKey,
  placesIn,
  readRows,
  type Rows,
  type TableContent,
} from "./lookup-table.js";
import { isNext } from "./record.js";
import type { Span } from "./stretch-keys.js";

/** Where the look-up tables of a log are. */
export function lookupPath(path: string): string {
  return `${path}.lookup`;
}

/** A table, and where it is in its file. */
export interface FoundTable extends OpenedHead {
  readonly at: number;
  /** Behind its head. */
  readonly body: number;
  readonly end: number;
}

const NEWLINE = 0x0a;
/** Nearly all heads are shorter. */
const HEAD_BYTES = 4 * 1024;

/** The tables from the file's start, as far as each follows the one before and is there whole. */
export async function readTables(
  handle: FileHandle,
  key: Uint8Array,
): Promise<readonly FoundTable[]> {
  const { size } = await handle.stat();
  const found: FoundTable[] = [];
  for (let at = 0; at < size; ) {
    const table = await readTable(handle, { at, size, key });
    const before = found.at(-1)?.head;
    if (table === undefined || (before !== undefined && !isNext(table.head, before))) break;
    found.push(table);
    at = table.end;
  }
  return found;
}

async function readTable(
  handle: FileHandle,
  { at, size, key }: { readonly at: number; readonly size: number; readonly key: Uint8Array },
): Promise<FoundTable | undefined> {
  for (const length of [HEAD_BYTES, HEAD_BYTES_MAX]) {
    const bytes = await readRange(handle, at, Math.min(size, at + length));
    if (!bytes.includes(NEWLINE)) continue;
    const table = tableIn(bytes, { at, key });
    return table !== undefined && table.end <= size ? table : undefined;
  }
  return undefined;
}

/** The table whose head these bytes begin with; `undefined` where it is none. */
export function tableIn(
  bytes: Buffer,
  { at, key }: { readonly at: number; readonly key: Uint8Array },
): FoundTable | undefined {
  const end = bytes.indexOf(NEWLINE);
  if (end === -1 || end > HEAD_BYTES_MAX) return undefined;
  const line = lineText(bytes.subarray(0, end));
  const opened = line === undefined ? undefined : openHead(line, key);
  if (opened === undefined) return undefined;
  const body = at + end + 1;
  return { ...opened, at, body, end: body + bodyBytes(opened.head) };
}

/** Reads tables of one file of them. */
export interface TableReader {
  readonly handle: FileHandle;
  readonly key: Uint8Array;
}

/** A part of a table; `undefined` where it is damaged. */
export async function readTablePart(
  { handle, key }: TableReader,
  table: FoundTable,
  number: number,
): Promise<Buffer | undefined> {
  const { from, to } = partAt(table.head, number);
  const bytes = await readRange(handle, table.body + from, table.body + to);
  return openPart(table, { number, bytes, key });
}

/** Where a key is in a table; `undefined` where that part of it is damaged. */
export async function findKey(
  reader: TableReader,
  table: FoundTable,
  key: KeyHash,
): Promise<readonly number[] | undefined> {
  const entries = await readTablePart(reader, table, partOfKey(key, table.head));
  return entries === undefined ? undefined : placesIn(entries, key);
}

/** The spans of a table's stretches; `undefined` where that part of it is damaged. */
export async function readSpans(reader: TableReader, table: FoundTable): Promise<Rows | undefined> {
  const bytes = await readTablePart(reader, table, 0);
  return bytes === undefined ? undefined : readRows(bytes, table.head);
}

/** All of a table; `undefined` where it is damaged. */
export async function readWholeTable(
  reader: TableReader,
  table: FoundTable,
): Promise<TableContent | undefined> {
  const spans = await readSpans(reader, table);
  const rows: Span[][] = [];
  spans?.forEach(({ stretch, span: _span, ...span }) => (rows[stretch] ??= []).push(span));
  const entries: Buffer[] = [];
  for (const bucket of table.head.buckets.keys()) {
    const part = await readTablePart(reader, table, bucket + 1);
    if (part === undefined) return undefined;
    entries.push(part);
  }
  const { stretches: _stretches, spans: _spans, buckets: _buckets, ...stretch } = table.head;
  return spans === undefined ? undefined : { stretch, rows, entries: Buffer.concat(entries) };
}

/** The tables that speak of this log as it was when its parts were opened. */
export async function tablesOfLog(
  tables: readonly FoundTable[],
  parts: readonly LogPart[],
): Promise<readonly FoundTable[]> {
  let count = tables.length;
  // It was written to since.
  while (count > 0 && !(await isThere(tables[count - 1]?.head, parts))) count -= 1;
  const last = tables[count - 1];
  return last !== undefined && (await isOfLog(last.head, parts)) ? tables.slice(0, count) : [];
}

async function isThere(
  head: FoundTable["head"] | undefined,
  parts: readonly LogPart[],
): Promise<boolean> {
  const part = head === undefined ? undefined : await partOf(parts, head.file);
  return part !== undefined && head !== undefined && part.size >= head.to;
}

/** Opens the tables of a log; `undefined` where there are none that may be read. */
export function openLookup(path: string, use: "read" | "write"): Promise<FileHandle | undefined> {
  return openCache(lookupPath(path), use);
}

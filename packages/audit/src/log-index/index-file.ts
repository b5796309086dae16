/**
 * Index file: the records beside a log, one a line, only ever added to. What is no record, and what
 * does not belong to the log as it is, counts as not being there. Format: spec/audit-index.md.
 */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { readPlace } from "../chain.js";
import { LINE_BYTES_MAX } from "../event.js";
import { lineText } from "../lines.js";
import type { LogPart } from "../log-parts.js";
import { readBlocksInPlace } from "../source.js";
import { findNewline, readRange } from "../tail.js";
import { type IndexRecord, openRecord, type Stretch } from "./record.js";

/** Where the index of a log is. */
export function indexPath(path: string): string {
  return `${path}.index`;
}

const NEWLINE = 0x0a;

/** What is done with a file that is opened. */
export type Use = "read" | "change" | "write";

/**
 * Opens an index; `undefined` where there is none that may be read, or written where that is meant.
 * Only "write" makes one.
 */
export function openIndexFile(path: string, use: Use): Promise<FileHandle | undefined> {
  return openCache(indexPath(path), use);
}

/** The same for a file of any name. */
export async function openCache(file: string, use: Use): Promise<FileHandle | undefined> {
  const { O_RDONLY, O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const flags = use === "read" ? O_RDONLY : use === "change" ? O_RDWR : O_RDWR | O_CREAT;
  const handle = await open(file, flags | O_NOFOLLOW | O_NONBLOCK, 0o600).catch(() => undefined);
  if (handle === undefined) return undefined;
  const found = await handle.stat();
  if (found.isFile() && found.nlink === 1) return handle;
  await handle.close();
  return undefined;
}

/** A record, and where its line starts and ends in the index. */
export interface FoundRecord {
  readonly record: IndexRecord;
  readonly from: number;
  readonly end: number;
}

/** Every line of an index in order: its record, or `undefined` where it is none. */
export async function* readIndex(
  handle: FileHandle,
  path: string,
  { key, signal }: { readonly key: Uint8Array; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<FoundRecord | undefined> {
  let at = 0;
  const blocks = readBlocksInPlace(handle, { path: indexPath(path), signal });
  for await (const { bytes, ends } of blocks) {
    let start = 0;
    for (const end of ends) {
      const line = lineText(bytes.subarray(start, end));
      const record = line === undefined ? undefined : openRecord(line, key);
      const from = at;
      at += end + 1 - start;
      start = end + 1;
      yield record === undefined ? undefined : { record, from, end: at };
    }
  }
}

/** The last record of an index. */
export async function readLastRecord(
  handle: FileHandle,
  path: string,
  key: Uint8Array,
): Promise<FoundRecord | undefined> {
  const { size } = await handle.stat();
  const end = (await findNewline(handle, size)) + 1;
  if (end === 0) return undefined;
  const start = (await findNewline(handle, end - 1)) + 1;
  const line =
    end - start > LINE_BYTES_MAX ? undefined : lineText(await readRange(handle, start, end - 1));
  const record = line === undefined ? undefined : openRecord(line, key);
  if (record !== undefined) return { record, from: start, end };
  let last: FoundRecord | undefined;
  for await (const found of readIndex(handle, path, { key })) last = found ?? last;
  return last;
}

/**
 * Whether the log is the one that a stretch is of: its last line stands where the stretch says,
 * and its hash, which covers all before it, is the one it says.
 */
export async function isOfLog(
  stretch: Pick<Stretch, "file" | "to" | "lastFrom" | "nextSeq" | "hash">,
  parts: readonly LogPart[],
): Promise<boolean> {
  const part = await partOf(parts, stretch.file);
  if (part === undefined || part.size < stretch.to) return false;
  const from = Math.max(0, stretch.lastFrom - 1);
  const bytes = await part.read(from, stretch.to);
  const start = stretch.lastFrom - from;
  if (bytes.at(-1) !== NEWLINE || (start === 1 && bytes[0] !== NEWLINE)) return false;
  const end = bytes.length - 1;
  if (bytes.subarray(start, end).includes(NEWLINE)) return false;
  const place = readPlace(bytes, start, end);
  return !("code" in place) && place.seq === stretch.nextSeq - 1 && place.hex === hexOf(stretch);
}

const hexOf = ({ hash }: { readonly hash: string }): string => hash.slice("sha256:".length);

/** The file of a log whose first event has this number. */
export async function partOf(
  parts: readonly LogPart[],
  file: number,
): Promise<LogPart | undefined> {
  for (const part of parts) if ((await part.startSeq()) === file) return part;
  return undefined;
}

/** Source: bytes of a log's file. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { ConsentError, quoteText } from "@acp/core";
import { endLines, type LineBlock } from "./lines.js";
import { cannot, causeText, hasErrno } from "./errors.js";

const CHUNK_BYTES = 512 * 1024;
/** Many want a line or two: the first bytes alone are read for them. */
const FIRST_BYTES = 64 * 1024;

/**
 * Opens a plain file for reading; `undefined` where there is none and that may be.
 *
 * @throws ConsentError `audit_failed` otherwise.
 */
export async function openSource(
  path: string,
  missing: "may_be_missing" | "must_exist",
): Promise<FileHandle | undefined> {
  let handle: FileHandle;
  try {
    // NONBLOCK: a pipe in the log's place must not hang us
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const isMissing = hasErrno(error, "ENOENT");
    if (isMissing && missing === "may_be_missing") return undefined;
    throw cannot("read", path)(isMissing ? "it does not exist" : causeText(error), error);
  }
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw cannot("read", path)("it is not a file");
}

/** How a file is read. */
export interface Reading {
  /** Names it in errors. */
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
  /** Hears the number of bytes of every chunk. */
  readonly count?: (bytes: number) => void;
  /** Where to start. */
  readonly position?: number;
  /** Where to end; where the file ends, unless given. */
  readonly end?: number | undefined;
}

/**
 * The bytes of a file from its start to where it ends when the end is reached.
 *
 * @throws ConsentError `audit_failed`, or `aborted` where the signal ended it.
 */
export async function* readChunks(
  handle: FileHandle,
  { path, signal, count, position = 0, end = Number.POSITIVE_INFINITY }: Reading,
): AsyncGenerator<Uint8Array> {
  for (let at = position, most = FIRST_BYTES; ; most = CHUNK_BYTES) {
    throwIfAborted(signal, path);
    const chunk = await readChunk(handle, path, { at, bytes: Math.min(most, end - at) });
    if (chunk.length === 0) return;
    at += chunk.length;
    count?.(chunk.length);
    yield chunk;
  }
}

/**
 * Ends the work where the signal says so.
 *
 * @throws ConsentError `aborted`.
 */
export function throwIfAborted(signal: AbortSignal | undefined, path: string): void {
  if (signal?.aborted === true)
    throw new ConsentError(
      "aborted",
      `Cannot continue reading audit log ${quoteText(path)}: aborted`,
      { cause: signal.reason },
    );
}

/**
 * The whole lines of a file, a block a chunk, each in the place of the one before: who takes a block
 * must be done with it before the next. Memory that is never given back is for who reads gigabytes
 * while others are served.
 *
 * @throws ConsentError as {@link readChunks}.
 */
export async function* readBlocksInPlace(
  handle: FileHandle,
  { path, signal, count, position = 0, end = Number.POSITIVE_INFINITY }: Reading,
): AsyncGenerator<LineBlock> {
  let buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let rest = 0;
  for (let at = position; ; ) {
    throwIfAborted(signal, path);
    const most = Math.min(buffer.length - rest, end - at);
    const read = await readChunk(handle, path, { at, bytes: most, into: buffer.subarray(rest) });
    if (read.length === 0) {
      if (rest > 0) yield { bytes: buffer.subarray(0, rest), ends: [], fault: "torn_line" };
      return;
    }
    at += read.length;
    count?.(read.length);
    const block = endLines(buffer.subarray(0, rest + read.length), rest);
    yield block;
    if (block.fault !== undefined) return;
    const from = (block.ends.at(-1) ?? -1) + 1;
    rest = block.bytes.length - from;
    // A line that fills all of it needs more; none is longer than a line may be.
    const next = rest === buffer.length ? Buffer.allocUnsafe(2 * rest) : buffer;
    block.bytes.copy(next, 0, from);
    buffer = next;
  }
}

async function readChunk(
  handle: FileHandle,
  path: string,
  { at, bytes, into }: { readonly at: number; readonly bytes: number; readonly into?: Buffer },
): Promise<Uint8Array> {
  if (bytes <= 0) return new Uint8Array();
  try {
    const { buffer, bytesRead } = await handle.read(
      into ?? Buffer.allocUnsafe(bytes),
      0,
      bytes,
      at,
    );
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw cannot("read", path)(causeText(error), error);
  }
}

/**
 * Tail: where an existing log ends, and the repair of a last line that was cut short.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { logEvent } from "@acp/core";
import type { AuditReceipt } from "@acp/core";
import { decodeEvent, encodeEvent } from "./codec.js";
import { cannot } from "./errors.js";
import { type AuditEvent, LINE_BYTES_MAX } from "./event.js";
import { lineText, splitLines } from "./lines.js";
import { writeAll } from "./log-file.js";
import type { Stamp } from "./stamp.js";
import { readChunks } from "./source.js";

/**
 * What was cut off at the end of a log: bytes without a final newline, whose append was never
 * acknowledged.
 */
export interface TornTail {
  /** How many bytes there were. */
  readonly bytes: number;
  /** `sha256:<hex>` of these bytes. */
  readonly hash: string;
}

/** How a log ends. */
export interface Tail {
  /** Bytes up to the end of the last full line. */
  readonly size: number;
  /**
   * The last full line's place in the chain, in this file or the one before; `undefined` where
   * there is none.
   */
  readonly head: AuditReceipt | undefined;
  /** Its wall time. */
  readonly lastMs: number | undefined;
  /** What follows it, or followed it before the repair. */
  readonly torn: TornTail | undefined;
}

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
/** How every line starts: the first key in canonical order. */
const LINE_START = '{"agent":"';

/**
 * Reads how a log ends.
 *
 * @param before - How the file before ends, where there is one: this file goes on from there.
 * @throws ConsentError `audit_failed` where the last full line is not a good event: the chain
 *   cannot go on from it.
 */
export async function readTail(path: string, handle: FileHandle, before?: Tail): Promise<Tail> {
  const { size: fileSize } = await handle.stat();
  const size = (await findNewline(handle, fileSize)) + 1;
  const torn =
    size === fileSize
      ? undefined
      : { bytes: fileSize - size, hash: await hashRange(handle, size, fileSize) };
  if (size === 0) {
    if (torn !== undefined && !(await startsLikeLog(handle, fileSize)))
      throw cannot("open", path)("it is not an audit log");
    return { size, head: before?.head, lastMs: before?.lastMs, torn };
  }
  const start = (await findNewline(handle, size - 1)) + 1;
  const why = size - start > LINE_BYTES_MAX ? "is longer than a log line can be" : undefined;
  const decoded =
    why === undefined ? decodeEvent(await readText(handle, start, size - 1)) : undefined;
  if (decoded?.ok !== true) {
    const fault = why ?? `is bad (${decoded?.fault.code ?? "not_json"})`;
    throw cannot(
      "open",
      path,
    )(
      `its last line ${fault}; run \`acp audit verify\`, then move the file away to start a new log`,
    );
  }
  const { seq, hash, atMs } = decoded.event;
  return { size, head: { seq, hash }, lastMs: atMs, torn };
}

/**
 * Without one full line, only its first bytes tell a torn log from somebody's file, which must not
 * be cut.
 */
async function startsLikeLog(handle: FileHandle, size: number): Promise<boolean> {
  const start = await readText(handle, 0, Math.min(size, LINE_START.length));
  return LINE_START.startsWith(start);
}

/** Offset of the last newline before `end`; -1 where there is none. */
export async function findNewline(handle: FileHandle, end: number): Promise<number> {
  for (let to = end; to > 0; ) {
    const from = Math.max(0, to - CHUNK_BYTES);
    const at = (await readRange(handle, from, to)).lastIndexOf(NEWLINE);
    if (at !== -1) return from + at;
    to = from;
  }
  return -1;
}

/** `sha256:<hex>` of the bytes from one offset to another. */
export async function hashRange(handle: FileHandle, start: number, end: number): Promise<string> {
  const hash = createHash("sha256");
  for (let from = start; from < end; from += CHUNK_BYTES)
    hash.update(await readRange(handle, from, Math.min(end, from + CHUNK_BYTES)));
  return `sha256:${hash.digest("hex")}`;
}

/** Bytes that are not UTF-8 become a text that no good line is. */
async function readText(handle: FileHandle, from: number, to: number): Promise<string> {
  return (await readRange(handle, from, to)).toString("utf8");
}

/** The bytes from one offset to another. */
export async function readRange(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(to - from);
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, from + done);
    if (bytesRead === 0) throw new Error("the file became shorter while it was read");
    done += bytesRead;
  }
  return bytes;
}

/** A log with a torn tail, open for appending only. */
export interface TornLog {
  readonly path: string;
  readonly handle: FileHandle;
  readonly tail: Tail & { readonly torn: TornTail };
}

/**
 * Puts a `log_recovered` event in the place of a torn tail, durable. The event is written over the
 * torn bytes before the rest is cut off: a crash at any moment leaves either a torn tail, which the
 * next opening records, or the event.
 *
 * @throws ConsentError `audit_failed` where another file has taken the log's name meanwhile.
 */
export async function recoverTail({ path, handle, tail }: TornLog, stamp: Stamp): Promise<Tail> {
  // a handle that appends cannot write before the end
  await using writing = await open(path, constants.O_WRONLY | constants.O_NOFOLLOW);
  const [ours, theirs] = [await handle.stat(), await writing.stat()];
  if (ours.ino !== theirs.ino || ours.dev !== theirs.dev)
    throw cannot("open", path)("it was replaced while it was opened");
  const { torn } = tail;
  const event = logEvent("log_recovered", stamp, { cut_bytes: torn.bytes, cut_hash: torn.hash });
  const { line, head } = encodeEvent(event, tail.head);
  const bytes = Buffer.from(`${line}\n`);
  await writeAll(writing, bytes, tail.size);
  const size = tail.size + bytes.length;
  await writing.truncate(size);
  await writing.sync();
  return { size, head, lastMs: stamp.atMs, torn };
}

/** The first event; `undefined` where there is no full line. */
export async function readFirst(path: string, handle: FileHandle): Promise<AuditEvent | undefined> {
  for await (const { bytes, ends } of splitLines(readChunks(handle, { path }))) {
    const [end] = ends;
    if (end === undefined) continue;
    const decoded = decodeEvent(lineText(bytes.subarray(0, end)) ?? "");
    if (!decoded.ok)
      throw cannot(
        "open",
        path,
      )(`its first line is bad (${decoded.fault.code}); run \`acp audit verify\``);
    return decoded.event;
  }
  return undefined;
}

/**
 * Read backup: opens a backup, checks every record of it, and hands its contents on. What would
 * leave the home or stands there twice is refused before any of it
 * is handed on. Format: spec/backup.md.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { posix } from "node:path";
import { ConsentError, isConsentError, quoteText } from "@acp/core";
import { deriveUnlockKey } from "@acp/home";
import type { Unlock } from "@acp/home";
import {
  broken,
  ENTRIES_MAX,
  HOME_FORMAT,
  isSafePath,
  LINE_BYTES_MAX,
  named,
  parseHeader,
  parseRecord,
  payloadKey,
  sameName,
} from "./format.js";
import type { BackupRecord } from "./format.js";
import { openStream } from "./seal-stream.js";

/** What a backup says of itself. */
export type BackupFacts = Extract<BackupRecord, { kind: "home" }>;
/** A file or folder in a backup. */
export type BackupEntry = Extract<BackupRecord, { kind: "directory" | "file" }>;

/** Takes what a backup holds, in its order. */
export interface BackupTaker {
  home?(facts: BackupFacts): Promise<void>;
  directory?(path: string): Promise<void>;
  /** Must read all of `bytes`; it rejects where they are not those that were backed up. */
  file?(
    entry: Extract<BackupEntry, { kind: "file" }>,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<void>;
}

/** What was read. */
export interface BackupRead {
  readonly facts: BackupFacts;
  readonly files: number;
  readonly bytes: number;
}

/** A backup that is open. */
export interface OpenBackup extends AsyncDisposable {
  /** What seals it. */
  readonly kind: Unlock["kind"];
  /** Size of the file. */
  readonly size: number;
  /** `sha256:<hex>` of its header: tells backups apart, since each has a salt of its own. */
  readonly id: string;
  /**
   * Reads all of it. It may be read more than once.
   *
   * @throws ConsentError `home_invalid` where it is broken or holds what a backup must not,
   *   `key_locked` where it does not open.
   */
  read(unlock: Unlock, take: BackupTaker, onBytes?: (done: number) => void): Promise<BackupRead>;
}

/**
 * Opens a backup.
 *
 * @throws ConsentError `home_invalid` where the file is not one, or cannot be read.
 */
export async function openBackup(path: string): Promise<OpenBackup> {
  // NONBLOCK: a pipe in the file's place must not hang us
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (cause: NodeJS.ErrnoException) => {
      const why = cause.code === "ENOENT" ? "there is no such file" : cause.message;
      throw placed(path, broken(why));
    },
  );
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw broken("it is not a file");
    const start = Buffer.alloc(LINE_BYTES_MAX);
    const { bytesRead } = await handle.read(start, 0, start.length, 0);
    const header = parseHeader(start.toString("latin1", 0, bytesRead));
    const keys = new Map<Unlock, Promise<Uint8Array>>();
    return {
      kind: header.kind,
      size: stats.size,
      id: `sha256:${createHash("sha256").update(start.subarray(0, header.bytes)).digest("hex")}`,
      async read(unlock, take, onBytes) {
        const key = keys.get(unlock) ?? deriveUnlockKey(unlock, header.salt);
        keys.set(unlock, key);
        const range = { start: header.bytes, end: stats.size };
        const stream = openStream(payloadKey(await key, header), handle, range);
        return await readAll(createReader(stream, onBytes), take).catch((error: unknown) => {
          throw isConsentError(error) ? placed(path, error) : error;
        });
      },
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await close(handle);
    throw isConsentError(error) ? placed(path, error) : error;
  }
}

const close = (handle: FileHandle): Promise<void> => handle.close();

function placed(path: string, error: ConsentError): ConsentError {
  const message = error.message.replace("the backup:", `the backup ${quoteText(path)}:`);
  return new ConsentError(error.code, message, { cause: error });
}

async function readAll(reader: Reader, take: BackupTaker): Promise<BackupRead> {
  const facts = await reader.record();
  if (facts.kind !== "home") throw broken("it does not say which home it is of");
  if (facts.home_format > HOME_FORMAT)
    throw broken(
      `its home has format ${facts.home_format}, and this version knows ${HOME_FORMAT}; update acp`,
    );
  await take.home?.(facts);
  const check = createCheck();
  let [files, bytes] = [0, 0];
  for (;;) {
    const record = await reader.record();
    if (record.kind === "end") {
      if (record.entries !== check.count()) throw broken("it says another number of entries");
      await reader.end();
      return { facts, files, bytes };
    }
    if (record.kind !== "directory" && record.kind !== "file")
      throw broken("its records are out of order");
    check.add(record);
    if (record.kind === "directory") await take.directory?.(record.path);
    else {
      await readFile(reader, record, take);
      files += 1;
      bytes += record.bytes;
    }
  }
}

async function readFile(
  reader: Reader,
  record: Extract<BackupEntry, { kind: "file" }>,
  { file: takeFile = drain }: BackupTaker,
): Promise<void> {
  let isWhole = false;
  const hash = createHash("sha256");
  const contents = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of reader.bytes(record.bytes)) {
      hash.update(piece);
      yield piece;
    }
    const sum = await reader.record();
    if (sum.kind !== "sum" || sum.sha256 !== hash.digest("hex"))
      throw broken(`the bytes of ${named(record.path)} are not those of its checksum`);
    isWhole = true;
  };
  await takeFile(record, contents());
  if (!isWhole) throw new Error(`not all of ${record.path} was read`);
}

async function drain(_entry: unknown, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _piece of bytes);
}

/** Refuses what must not be written below a home. */
function createCheck(): { add(entry: BackupEntry): void; count(): number } {
  const seen = new Set<string>();
  const folders = new Set<string>(["."]);
  return {
    add(entry) {
      const { path } = entry;
      if (!isSafePath(path))
        throw broken(`it holds ${named(path)}, which is not a place in a home`);
      if (seen.has(sameName(path))) throw broken(`it holds ${named(path)} twice`);
      if (!folders.has(posix.dirname(path)))
        throw broken(`it holds ${named(path)} without its folder`);
      if (seen.size >= ENTRIES_MAX) throw broken(`it has more than ${ENTRIES_MAX} entries`);
      seen.add(sameName(path));
      if (entry.kind === "directory") folders.add(path);
    },
    count: () => seen.size,
  };
}

/** Reads lines and counted bytes from a stream of pieces. */
interface Reader {
  record(): Promise<BackupRecord>;
  bytes(count: number): AsyncGenerator<Uint8Array>;
  /** That nothing follows. */
  end(): Promise<void>;
}

const NEWLINE = 0x0a;

function createReader(
  stream: AsyncGenerator<Uint8Array>,
  onBytes: ((done: number) => void) | undefined,
): Reader {
  let held: Uint8Array = new Uint8Array(0);
  let done = 0;
  const more = async (): Promise<boolean> => {
    const next = await stream.next();
    if (next.done === true) return false;
    done += next.value.length;
    onBytes?.(done);
    held = held.length === 0 ? next.value : Buffer.concat([held, next.value]);
    return true;
  };
  return {
    async record() {
      for (;;) {
        const at = held.indexOf(NEWLINE);
        if (at > LINE_BYTES_MAX || (at === -1 && held.length > LINE_BYTES_MAX))
          throw broken("it has a record that is too long");
        if (at !== -1) {
          const line = held.subarray(0, at);
          held = held.subarray(at + 1);
          return parseRecord(line);
        }
        if (!(await more())) throw broken("it ends too early");
      }
    },
    async *bytes(count) {
      for (let left = count; left > 0; ) {
        if (held.length === 0 && !(await more())) throw broken("it ends too early");
        const piece = held.subarray(0, left);
        held = held.subarray(piece.length);
        left -= piece.length;
        yield piece;
      }
    },
    async end() {
      if (held.length > 0 || (await more())) throw broken("something follows its end");
    },
  };
}

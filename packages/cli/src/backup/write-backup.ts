/**
 * Write backup: a home into one sealed file, which appears under its name when it is complete, on
 * disk, and was read again. Format: spec/backup.md.
 */
import { createHash, randomBytes } from "node:crypto";
import { link, lstat, open, rename, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ConsentError, isConsentError, quoteText } from "@acp/core";
import { deriveUnlockKey, syncDirectory } from "@acp/home";
import type { Unlock } from "@acp/home";
import { CHUNK_BYTES, HOME_FORMAT, payloadKey, printHeader, printRecord } from "./format.js";
import { isInside } from "./is-inside.js";
import { openBackup } from "./read-backup.js";
import { createSealer } from "./seal-stream.js";
import type { Sealer } from "./seal-stream.js";
import { openPlain, takeSnapshot } from "./snapshot.js";
import type { PinnedFile, Snapshot } from "./snapshot.js";

/** What is backed up, and where to. */
export interface BackupPlan {
  /** The home, checked. */
  readonly dir: string;
  /** Absolute path of the new file. */
  readonly file: string;
  readonly hasLogs: boolean;
  readonly unlock: Unlock;
  readonly acp: string;
  readonly nowMs: number;
  readonly onProgress: (what: string, percent: number) => void;
}

/** A backup that was written and read again. Plain JSON data. */
export interface BackupWritten {
  readonly file: string;
  readonly bytes: number;
  readonly entries: number;
  readonly id: string;
  /** Links and the like, which no backup holds. */
  readonly passed_over: readonly string[];
}

const SALT_BYTES = 32;
/** File systems without hard links: FAT and some network shares. */
const NO_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/**
 * Writes a backup. On any failure nothing is left.
 *
 * @throws ConsentError `options_invalid` where something has the file's name already; what
 *   `takeSnapshot()` throws; `home_invalid` where the file cannot be written or does not read back.
 */
export async function writeBackup(plan: BackupPlan): Promise<BackupWritten> {
  const { dir, file, hasLogs } = plan;
  if (await isInside(dir, file))
    throw new ConsentError(
      "options_invalid",
      `Cannot write ${quoteText(file)}: it is in the home, so that it would be lost with it; name another place`,
    );
  await refuseExisting(file);
  await using snapshot = await takeSnapshot(dir, hasLogs);
  const temporary = join(
    dirname(file),
    `.${basename(file)}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`,
  );
  try {
    await writeSealed(temporary, snapshot, plan);
    const read = await readAgain(temporary, snapshot, plan);
    await place(temporary, file);
    await syncDirectory(dirname(file));
    return {
      file,
      ...read,
      entries: snapshot.directories.length + snapshot.files.length,
      passed_over: snapshot.passedOver,
    };
  } catch (error) {
    await unlink(temporary).catch(() => {}); // there is none where it could not be made
    if (isConsentError(error)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new ConsentError("home_invalid", `Cannot write ${quoteText(file)}: ${why}`, {
      cause: error,
    });
  }
}

async function refuseExisting(file: string): Promise<void> {
  const isThere = await lstat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT" && error.code !== "ENOTDIR",
  );
  if (isThere) throw existing(file);
}

function existing(file: string): ConsentError {
  return new ConsentError(
    "options_invalid",
    `Cannot write ${quoteText(file)}: it exists already; a backup replaces nothing`,
  );
}

async function writeSealed(
  path: string,
  { directories, files }: Snapshot,
  { dir, unlock, acp, nowMs, hasLogs, onProgress }: BackupPlan,
): Promise<void> {
  const header = { kind: unlock.kind, salt: randomBytes(SALT_BYTES) };
  const key = payloadKey(await deriveUnlockKey(unlock, header.salt), header);
  await using out = await open(path, "wx", 0o600);
  await out.writeFile(printHeader(header));
  const sealer = createSealer(key, (sealed) => writeAll(out, sealed));
  const say = (line: Parameters<typeof printRecord>[0]): Promise<void> =>
    sealer.push(Buffer.from(printRecord(line)));
  const home_format = HOME_FORMAT;
  await say({ kind: "home", acp, created_at_ms: nowMs, has_logs: hasLogs, home: dir, home_format });
  for (const each of directories) await say({ kind: "directory", path: each });
  const total = files.reduce((sum, { bytes }) => sum + bytes, 1);
  let done = 0;
  for (const pinned of files) {
    const { path: name, bytes, modifiedAtMs } = pinned;
    await say({ kind: "file", bytes, modified_at_ms: modifiedAtMs, path: name });
    const sha256 = await sealFile(pinned, sealer, (count) => {
      done += count;
      onProgress("writing", Math.floor((100 * done) / total));
    });
    await say({ kind: "sum", sha256 });
  }
  await say({ kind: "end", entries: directories.length + files.length });
  await sealer.end();
  await out.sync();
}

async function writeAll(out: FileHandle, bytes: Uint8Array): Promise<void> {
  await out.writeFile(bytes);
}

async function sealFile(
  { path, bytes, from }: PinnedFile,
  sealer: Sealer,
  onBytes: (count: number) => void,
): Promise<string> {
  const hash = createHash("sha256");
  const take = async (piece: Uint8Array): Promise<void> => {
    hash.update(piece);
    await sealer.push(piece);
    onBytes(piece.length);
  };
  if (from instanceof Uint8Array) await take(from);
  else if (typeof from === "string") {
    await using handle = await openPlain(from).catch((cause: unknown) => {
      if (isConsentError(cause)) throw cause;
      throw tooFast(path); // retention removed it
    });
    await readPieces(handle, { path, bytes }, take);
  } else await readPieces(from, { path, bytes }, take);
  return hash.digest("hex");
}

async function readPieces(
  handle: FileHandle,
  { path, bytes }: Pick<PinnedFile, "path" | "bytes">,
  take: (piece: Uint8Array) => Promise<void>,
): Promise<void> {
  const piece = Buffer.alloc(CHUNK_BYTES);
  for (let at = 0; at < bytes; ) {
    const { bytesRead } = await handle.read(piece, 0, Math.min(piece.length, bytes - at), at);
    if (bytesRead === 0) throw tooFast(path);
    await take(piece.subarray(0, bytesRead));
    at += bytesRead;
  }
}

function tooFast(path: string): ConsentError {
  return new ConsentError(
    "home_busy",
    `Cannot back up ${quoteText(path)}: it was removed or became shorter meanwhile; try again`,
  );
}

/** What does not read back is no backup. */
async function readAgain(
  path: string,
  { files }: Snapshot,
  { unlock, onProgress }: BackupPlan,
): Promise<Pick<BackupWritten, "bytes" | "id">> {
  await using backup = await openBackup(path);
  const { size, id } = backup;
  const read = await backup.read(unlock, {}, (done) =>
    onProgress("reading it again", Math.floor((100 * done) / size)),
  );
  if (read.files !== files.length)
    throw new Error(`${read.files} of ${files.length} files were read again`);
  return { bytes: size, id };
}

/** A link replaces nothing, unlike a rename. */
async function place(temporary: string, file: string): Promise<void> {
  try {
    await link(temporary, file);
    await unlink(temporary);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "EEXIST") throw existing(file);
    if (!NO_LINKS.has(code)) throw error;
    await refuseExisting(file);
    await rename(temporary, file);
  }
}

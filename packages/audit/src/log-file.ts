/**
 * Log file: opening the file that is written to. Private, a plain file under its own name only, in
 * a directory where nobody else may write.
 */
import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { quoteText } from "@acp/core";
import { cannot, causeText, hasErrno } from "./errors.js";

/**
 * Refuses a directory in which somebody else could replace the log.
 *
 * @throws ConsentError `audit_failed`.
 */
export async function checkDirectory(path: string): Promise<void> {
  const directory = dirname(path);
  const found = await stat(directory).catch((error: unknown) => {
    throw cannot("open", path)(
      hasErrno(error, "ENOENT") ? "its directory does not exist" : causeText(error),
      error,
    );
  });
  if (!found.isDirectory()) throw cannot("open", path)("its parent is not a directory");
  if ((found.mode & 0o022) !== 0)
    throw cannot(
      "open",
      path,
    )(`other users can write to its directory; run: chmod go-w ${quoteText(directory)}`);
  if (!isOwn(found.uid) && found.uid !== 0)
    throw cannot("open", path)("its directory belongs to another user");
}

/**
 * Opens the log for reading and appending, or makes it, durable under its name.
 *
 * @throws ConsentError `audit_failed` where it is not a private plain file of this user.
 */
export async function openLogFile(path: string): Promise<FileHandle> {
  const handle = await openOrCreate(path).catch((error: unknown) => {
    throw cannot("open", path)(
      hasErrno(error, "ELOOP") ? "it is a symbolic link" : causeText(error),
      error,
    );
  });
  const found = await handle.stat();
  const refuse = async (why: string): Promise<never> => {
    await handle.close();
    throw cannot("open", path)(why);
  };
  if (!found.isFile()) return refuse("it is not a file");
  if (found.nlink !== 1) return refuse("it has another name (a hard link)");
  if (!isOwn(found.uid)) return refuse("it belongs to another user");
  if ((found.mode & 0o077) !== 0)
    return refuse(`other users can read or write it; run: chmod 600 ${quoteText(path)}`);
  return handle;
}

/**
 * Whether a write is durable when it returns. On Linux that is one system call instead of two, so
 * one wait; elsewhere the flag is missing or promises less than a sync does.
 */
export const WRITES_ARE_SYNCED: boolean = process.platform === "linux";

async function openOrCreate(path: string): Promise<FileHandle> {
  const { O_RDWR, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_DSYNC } = constants;
  const writing = O_RDWR | O_APPEND | O_NOFOLLOW | (WRITES_ARE_SYNCED ? O_DSYNC : 0);
  try {
    const handle = await open(path, writing | O_CREAT | O_EXCL, 0o600);
    await handle.sync();
    await syncDirectory(dirname(path));
    return handle;
  } catch (error) {
    if (!hasErrno(error, "EEXIST")) throw error;
    return open(path, writing | O_NONBLOCK);
  }
}

/** Makes the names in a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  await handle.sync();
}

/** Writes all bytes: at the end of a handle that appends, else at `position`. */
export async function writeAll(
  handle: FileHandle,
  bytes: Uint8Array,
  position?: number,
): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const at = position === undefined ? null : position + done;
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at);
    if (bytesWritten === 0) throw new Error("the system wrote nothing");
    done += bytesWritten;
  }
}

function isOwn(uid: number): boolean {
  return uid === process.getuid?.();
}

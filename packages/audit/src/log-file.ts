/**
 * Log file: the one place that writes. Private, a plain file under its own name only, appended to and synced before a write counts.
 */
import { constants, statSync } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { quoteText } from "@acp/core";
import { cannot, causeText, hasErrno } from "./errors.js";

/** Where lines become durable. */
export interface LogStore {
  /** Adds text at the end; resolves when it is durable. After a rejection nothing more may be added. */
  append(text: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Refuses a directory in which somebody else could replace the log.
 *
 * @throws ConsentError `audit_failed`.
 */
export async function checkDirectory(path: string): Promise<void> {
  const directory = dirname(path);
  const found = await stat(directory).catch((error: unknown) => {
    throw cannot("open", path)(hasErrno(error, "ENOENT") ? "its directory does not exist" : causeText(error), error);
  });
  if (!found.isDirectory()) throw cannot("open", path)("its directory is none");
  if ((found.mode & 0o022) !== 0) throw cannot("open", path)(`others may write in its directory; run: chmod go-w ${quoteText(directory)}`);
  if (!isOwn(found.uid) && found.uid !== 0) throw cannot("open", path)("its directory belongs to another user");
}

/**
 * Opens the log for reading and appending, or makes it, durable under its name.
 *
 * @throws ConsentError `audit_failed` where it is not a private plain file of this user.
 */
export async function openLogFile(path: string): Promise<FileHandle> {
  const handle = await openOrCreate(path).catch((error: unknown) => {
    throw cannot("open", path)(hasErrno(error, "ELOOP") ? "it is a symbolic link" : causeText(error), error);
  });
  const found = await handle.stat();
  const refuse = async (why: string): Promise<never> => {
    await handle.close();
    throw cannot("open", path)(why);
  };
  if (!found.isFile()) return refuse("it is not a file");
  if (found.nlink !== 1) return refuse("it has a second name (hard link)");
  if (!isOwn(found.uid)) return refuse("it belongs to another user");
  if ((found.mode & 0o077) !== 0) return refuse(`others may read or write it; run: chmod 600 ${quoteText(path)}`);
  return handle;
}

async function openOrCreate(path: string): Promise<FileHandle> {
  const { O_RDWR, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const handle = await open(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    await handle.sync();
    await syncDirectory(dirname(path));
    return handle;
  } catch (error) {
    if (!hasErrno(error, "EEXIST")) throw error;
    return open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
  }
}

/** Makes the names in a directory durable. */
async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  await handle.sync();
}

/** The store of an open log of `startSize` bytes. Takes the handle over. */
export async function createFileStore(path: string, handle: FileHandle, startSize: number): Promise<LogStore> {
  const { dev, ino } = await handle.stat();
  let size = startSize;

  /** Synchronous on purpose: a few microseconds, once a group. */
  function checkPlace(): void {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.ino !== ino || found.dev !== dev) throw new Error("it was removed or replaced");
    if (found.size !== size) throw new Error(`it has ${found.size} bytes, expected ${size}: something else changed it`);
  }

  return {
    async append(text) {
      checkPlace();
      const bytes = Buffer.from(text);
      try {
        await writeAll(handle, bytes);
        await handle.datasync();
        size += bytes.length;
      } catch (error) {
        await takeBack(handle, size);
        throw error;
      }
    },
    close: () => handle.close(),
  };
}

/** Writes all bytes: at the end of a handle that appends, else at `position`. */
export async function writeAll(handle: FileHandle, bytes: Uint8Array, position?: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const at = position === undefined ? null : position + done;
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at);
    if (bytesWritten === 0) throw new Error("the system wrote nothing");
    done += bytesWritten;
  }
}

/** After a failed write: none of it should stay. Where even that fails, the next opening cuts what is torn and says so. */
async function takeBack(handle: FileHandle, size: number): Promise<void> {
  try {
    await handle.truncate(size);
    await handle.datasync();
  } catch {
    // The append has failed already, and no event after it is taken.
  }
}

function isOwn(uid: number): boolean {
  return uid === process.getuid?.();
}

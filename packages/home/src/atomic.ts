/**
 * Atomic files: a reader, or a restart after a crash at any moment, finds either the old text or
 * the new one, complete. Private (0600) and durable.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { link, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { causeText, hasErrno, cannot } from "./errors.js";

/**
 * Writes a private file (0600) in one step, replacing an old one. A symbolic link of that name is
 * replaced, never followed.
 *
 * @throws ConsentError `home_invalid`; the old file is then unchanged.
 */
export async function writeFileAtomic(path: string, text: string): Promise<void> {
  await withTemporary(path, text, (temporary) => rename(temporary, path));
}

/**
 * Writes a private file (0600) in one step if nothing of that name exists.
 *
 * @returns False if something of that name exists; nothing is written then.
 * @throws ConsentError `home_invalid`.
 */
export function createFileAtomic(path: string, text: string): Promise<boolean> {
  return withTemporary(path, text, async (temporary) => {
    try {
      await link(temporary, path); // unlike rename, link never replaces
    } catch (error) {
      if (hasErrno(error, "EEXIST")) return false;
      throw error;
    } finally {
      await unlink(temporary);
    }
    return true;
  });
}

async function withTemporary<T>(
  path: string,
  text: string,
  place: (temporary: string) => Promise<T>,
): Promise<T> {
  const temporary = join(
    dirname(path),
    `.${basename(path)}.${process.pid}.${randomBytes(6).toString("hex")}.tmp`,
  );
  try {
    await writeNew(temporary, text);
    const placed = await place(temporary);
    await syncDirectory(dirname(path));
    return placed;
  } catch (error) {
    await unlink(temporary).catch(() => {}); // gone already where it was placed
    throw cannot("write", path)(causeText(error), error);
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  await using handle = await open(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  await handle.writeFile(text);
  await handle.sync();
}

/**
 * Makes the names in a directory durable.
 *
 * @param directory - Its path.
 * @throws Error from the system.
 */
export async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  await handle.sync();
}

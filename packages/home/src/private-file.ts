/** Private files: read only while they are their owner's alone. */
import { lstat, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { quoteText } from "@acp/core";
import { syncDirectory } from "./atomic.js";
import { causeText, cannot, hasErrno } from "./errors.js";
import { readOwnFile } from "./text-file.js";
import type { Extent } from "./text-file.js";

/**
 * Reads a text file that nobody but its owner may read or write.
 *
 * @param bytesMax - A larger file is refused.
 * @throws ConsentError `home_invalid`, with the fix.
 */
export function readPrivateFile(path: string, bytesMax: number): Promise<string> {
  return readPrivate(path, bytesMax, "all");
}

/** The same, of the whole lines of a file to which another process may be adding one. */
export function readPrivateLines(path: string, bytesMax: number): Promise<string> {
  return readPrivate(path, bytesMax, "whole lines");
}

async function readPrivate(path: string, bytesMax: number, extent: Extent): Promise<string> {
  await checkPlain(path);
  const { text, isPrivate } = await readOwnFile(path, bytesMax, extent);
  if (!isPrivate)
    throw cannot("read", path)(`other users can read it; run: chmod 600 ${quoteText(path)}`);
  return text;
}

/** A link could lead out of the home, to where others write. */
async function checkPlain(path: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    throw cannot("read", path)(
      hasErrno(error, "ENOENT") ? "it does not exist" : causeText(error),
      error,
    );
  });
  if (found.isSymbolicLink()) throw cannot("read", path)("it is a symbolic link");
}

/**
 * Creates a directory that only its owner may enter, or checks an existing one.
 *
 * @throws ConsentError `home_invalid`, with the fix.
 */
export async function makePrivateDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
    await syncDirectory(dirname(path));
  } catch (error) {
    if (!hasErrno(error, "EEXIST")) throw cannot("make", path)(causeText(error), error);
  }
  await checkPrivateDirectory(path);
}

/**
 * Checks that only its owner, this user, may enter a directory.
 *
 * @throws ConsentError `home_invalid`, with the fix.
 */
export async function checkPrivateDirectory(path: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    throw cannot("open", path)(
      hasErrno(error, "ENOENT") ? "it does not exist; run: acp init" : causeText(error),
      error,
    );
  });
  if (!found.isDirectory()) throw cannot("open", path)("it is not a directory");
  if (found.uid !== process.getuid?.())
    throw cannot("open", path)(`it belongs to user ${found.uid}`);
  if ((found.mode & 0o077) !== 0)
    throw cannot("open", path)(`other users can enter it; run: chmod 700 ${quoteText(path)}`);
}

/** Whether there is surely nothing at the path: what cannot be looked at may be there. */
export function isMissing(path: string): Promise<boolean> {
  return lstat(path).then(
    () => false,
    (error: unknown) => hasErrno(error, "ENOENT"),
  );
}

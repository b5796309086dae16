/** Text files that decide: read whole, bounded, and only while nobody else can write them. */
import { type Stats, constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { quoteText } from "@acp/core";
import { causeText, hasErrno, cannot } from "./errors.js";

/** A text and whether others may read it. */
export interface TextFile {
  readonly text: string;
  readonly isPrivate: boolean;
}

/**
 * The text of a file.
 *
 * @throws ConsentError `home_invalid`, with the fix.
 */
export async function readTextFile(path: string, bytesMax: number): Promise<string> {
  return (await readOwnFile(path, bytesMax)).text;
}

/** {@link readTextFile}, and whether the file is its owner's alone. */
export async function readOwnFile(path: string, bytesMax: number): Promise<TextFile> {
  await using handle = await openFile(path);
  const found = await handle.stat();
  checkOwner(path, found);
  if (found.size > bytesMax)
    throw cannot("read", path)(`it has ${found.size} bytes, more than the maximum of ${bytesMax}`);
  return {
    text: decode(await readAll(handle, path, found.size), path),
    isPrivate: (found.mode & 0o077) === 0,
  };
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    // NONBLOCK: a pipe in the file's place must not hang us
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw cannot("read", path)(
      hasErrno(error, "ENOENT") ? "it does not exist" : causeText(error),
      error,
    );
  }
}

function checkOwner(path: string, found: Stats): void {
  if (!found.isFile()) throw cannot("read", path)("it is not a file");
  if (found.uid !== process.getuid?.() && found.uid !== 0)
    throw cannot("read", path)(`it belongs to user ${found.uid}`);
  if ((found.mode & 0o022) !== 0)
    throw cannot("read", path)(`other users can write to it; run: chmod go-w ${quoteText(path)}`);
}

/** Room for one byte more shows whether somebody is still writing. */
async function readAll(handle: FileHandle, path: string, size: number): Promise<Uint8Array> {
  const bytes = Buffer.alloc(size + 1);
  let length = 0;
  for (let bytesRead = -1; bytesRead !== 0 && length <= size; length += bytesRead) {
    ({ bytesRead } = await handle
      .read(bytes, length, bytes.length - length, length)
      .catch((error: unknown) => {
        throw cannot("read", path)(causeText(error), error);
      }));
  }
  if (length !== size) throw cannot("read", path)("it changed while it was read");
  return bytes.subarray(0, size);
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw cannot("read", path)("it is not UTF-8 text", error);
  }
}

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

/**
 * How much of a file is read: all of it, or its whole lines, where another process may be adding to
 * it and one that died may have left the beginning of a line.
 */
export type Extent = "all" | "whole lines";

/** {@link readTextFile}, and whether the file is its owner's alone. */
export async function readOwnFile(
  path: string,
  bytesMax: number,
  extent: Extent = "all",
): Promise<TextFile> {
  await using handle = await openFile(path);
  const found = await handle.stat();
  checkOwner(path, found);
  if (found.size > bytesMax)
    throw cannot("read", path)(`it has ${found.size} bytes, more than the maximum of ${bytesMax}`);
  const bytes = await readBytes(handle, found.size, { path, extent });
  return { text: decode(bytes, path), isPrivate: (found.mode & 0o077) === 0 };
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

interface Reading {
  readonly path: string;
  readonly extent: Extent;
}

/** Room for one byte more shows whether somebody is still writing. */
async function readBytes(
  handle: FileHandle,
  size: number,
  { path, extent }: Reading,
): Promise<Uint8Array> {
  const bytes = Buffer.alloc(size + 1);
  let length = 0;
  for (let bytesRead = -1; bytesRead !== 0 && length <= size; length += bytesRead) {
    ({ bytesRead } = await handle
      .read(bytes, length, bytes.length - length, length)
      .catch((error: unknown) => {
        throw cannot("read", path)(causeText(error), error);
      }));
  }
  const isChanged = extent === "all" ? length !== size : length < size;
  if (isChanged) throw cannot("read", path)("it changed while it was read");
  // Cut before it is decoded: half a line may end in half a character.
  const end = extent === "all" ? size : bytes.subarray(0, size).lastIndexOf("\n") + 1;
  return bytes.subarray(0, end);
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw cannot("read", path)("it is not UTF-8 text", error);
  }
}

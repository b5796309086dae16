/** Replace file: a file beside a log made anew under another name, and put in its place. */
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { writeAll } from "../log-file.js";
import { readChunks } from "../source.js";

/** Puts another file in the place of one. A crash leaves the old one, or the new one. */
export async function replaceFile(
  path: string,
  handle: FileHandle,
  fill: (writing: FileHandle) => Promise<boolean>,
): Promise<FileHandle> {
  const fresh = `${path}.new`;
  await rm(fresh, { force: true });
  const writing = await open(fresh, "wx+", 0o600);
  let isFilled = false;
  try {
    isFilled = await fill(writing);
    if (isFilled) await rename(fresh, path);
  } finally {
    await (isFilled ? handle : writing).close();
    if (!isFilled) await rm(fresh, { force: true });
  }
  return isFilled ? writing : handle;
}

/** Adds a part of one file to the end of another. */
export async function copyRange(
  from: FileHandle,
  to: FileHandle,
  range: { readonly position: number; readonly end?: number },
): Promise<void> {
  for await (const chunk of readChunks(from, { path: "index", ...range }))
    await writeAll(to, chunk, (await to.stat()).size);
}

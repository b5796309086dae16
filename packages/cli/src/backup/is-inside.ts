/** Is inside: whether a path leads into a directory, whatever links lead there. */
import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";

/**
 * Whether a path is a directory or lies in it. The path need not be there.
 *
 * @param directory - A directory that is there.
 */
export async function isInside(directory: string, path: string): Promise<boolean> {
  const at = relative(await realpath(directory), await realOf(path));
  return at !== ".." && !at.startsWith(`..${sep}`) && !isAbsolute(at);
}

/** With the links of what is there of it. */
async function realOf(path: string): Promise<string> {
  const parent = dirname(path);
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || parent === path) return real ?? path;
  return join(await realOf(parent), relative(parent, path));
}

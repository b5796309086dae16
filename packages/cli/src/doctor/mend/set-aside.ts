/**
 * Set aside: a file or folder that nothing can read goes to `quarantined/`, under a name that says
 * so. Nothing is removed, and nothing is replaced.
 */
import { link, lstat, mkdir, rename, unlink } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { makePrivateDirectory, syncDirectory } from "@acp/home";
import type { HomePaths } from "@acp/home";
import { hashFile } from "./hash-file.js";

/** Where broken things of a home go. */
export function quarantinePath(home: Pick<HomePaths, "dir">): string {
  return join(home.dir, "quarantined");
}

/**
 * Sets a file or folder aside; says where it went, with its size and SHA-256 where it is a file.
 *
 * @throws Error from the system.
 */
export async function setAside(home: HomePaths, path: string): Promise<string> {
  const folder = quarantinePath(home);
  await makePrivateDirectory(folder);
  const stats = await lstat(path);
  const what = stats.isFile() ? await hashFile(path) : undefined;
  const target = await moveTo(folder, path, stats.isDirectory());
  await syncDirectory(folder);
  await syncDirectory(dirname(path));
  const at = relative(home.dir, target);
  const said = what === undefined ? "" : ` (${what.bytes} bytes, ${what.hash})`;
  return `${relative(home.dir, path)} was set aside as ${at}${said}`;
}

/** The first free name: neither a link nor a new folder replaces anything. */
async function moveTo(folder: string, path: string, isFolder: boolean): Promise<string> {
  for (let number = 1; ; number++) {
    const target = join(folder, `${basename(path)}.${number}`);
    try {
      if (isFolder) {
        await mkdir(target, { mode: 0o700 });
        await rename(path, target); // an empty folder is all that a folder replaces
      } else {
        await link(path, target);
        await unlink(path);
      }
      return target;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
}

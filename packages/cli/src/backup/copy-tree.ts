/**
 * Copy tree: a whole home to another file system, with modes, times and links, and durable. Sockets
 * stay: nobody listens on them. What was copied is read again and compared.
 */
import { createHash } from "node:crypto";
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  symlink,
  utimes,
} from "node:fs/promises";
import { join } from "node:path";
import { ConsentError, quoteText } from "@acp/core";
import { syncDirectory } from "@acp/home";
import { hashFile } from "../doctor/mend/hash-file.js";

/** What a tree is, by its names, sizes and times: it was not written to while this stays the same. */
export async function treeMark(dir: string): Promise<string> {
  const hash = createHash("sha256");
  for (const path of await walkTree(dir)) {
    const stats = await lstat(join(dir, path), { bigint: true });
    if (stats.isSocket()) continue;
    const content = stats.isDirectory() ? "" : `${stats.size} ${stats.mtimeNs}`;
    hash.update(`${JSON.stringify(path)} ${stats.mode} ${content}\n`);
  }
  return hash.digest("hex");
}

async function walkTree(dir: string, below = ""): Promise<readonly string[]> {
  const entries = await readdir(join(dir, below), { withFileTypes: true });
  const paths: string[] = [];
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    paths.push(path, ...(entry.isDirectory() ? await walkTree(dir, path) : []));
  }
  return paths;
}

/**
 * Copies a tree.
 *
 * @throws ConsentError `home_invalid` where a file does not read back, or is none that can be
 *   copied; Error from the system.
 */
export async function copyTree(
  from: string,
  to: string,
  onProgress: (percent: number) => void,
): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  const paths = await walkTree(from);
  const folders: string[] = [];
  for (const [index, path] of paths.entries()) {
    onProgress(Math.floor((100 * index) / paths.length));
    const [source, target] = [join(from, path), join(to, path)];
    const stats = await lstat(source);
    if (stats.isDirectory()) {
      await mkdir(target, { mode: 0o700 });
      folders.push(path);
    } else if (stats.isSymbolicLink()) await symlink(await readlink(source), target);
    else if (stats.isFile()) await copyOne(source, target);
    else if (!stats.isSocket())
      throw new ConsentError(
        "home_invalid",
        `Cannot move ${quoteText(source)}: it is neither a file nor a folder nor a link`,
      );
  }
  // From the inside out: a folder's own time and mode come last.
  for (const path of folders.toReversed()) {
    const stats = await lstat(join(from, path));
    await syncDirectory(join(to, path));
    await chmod(join(to, path), stats.mode & 0o7777);
    await utimes(join(to, path), stats.atime, stats.mtime);
  }
  await syncDirectory(to);
}

async function copyOne(source: string, target: string): Promise<void> {
  const stats = await lstat(source);
  await copyFile(source, target);
  await chmod(target, stats.mode & 0o7777);
  await utimes(target, stats.atime, stats.mtime);
  await using handle = await open(target, "r");
  await handle.sync();
  const [was, is] = [await hashFile(source), await hashFile(target)];
  if (was.hash !== is.hash)
    throw new ConsentError(
      "home_invalid",
      `Cannot move ${quoteText(source)}: its copy has other bytes`,
    );
}

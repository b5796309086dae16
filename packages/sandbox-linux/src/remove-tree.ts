/**
 * Remove tree: a directory that an agent wrote in, with all that is in it. An agent can close directories to their owner, which is us where it has no user
 * of its own; they are opened again first, by descriptor, so that no link leads out.
 */
import { chmodSync, closeSync, constants, openSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";

/** Opens nothing, and needs no permission on the file itself. */
const O_PATH = 0o10000000;

/** Removes it; one that is not there is gone. */
export async function removeTree(path: string): Promise<void> {
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true });
  try {
    await remove();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM"))) throw error;
    openUp(path);
    await remove();
  }
}

function openUp(path: string): void {
  const fd = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const own = `/proc/self/fd/${fd}`;
  try {
    chmodSync(own, 0o700);
    for (const entry of readdirSync(own, { withFileTypes: true })) if (entry.isDirectory()) openUp(`${own}/${entry.name}`);
  } finally {
    closeSync(fd);
  }
}

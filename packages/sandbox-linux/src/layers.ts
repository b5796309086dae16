/**
 * Layers: where an agent writes instead of into its workspace. Two directories that
 * native/overlay.c mounts, in one that nobody else can enter: `upper` has what was written, in the
 * kernel's own format, and `work` belongs to the kernel.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { ConsentError } from "@acp/core";
import { trustedPath } from "@acp/host";
import type { AgentUser, Workspace } from "./parts.js";
import { hasCode } from "./review-errors.js";

/** The layer with what the agent wrote, within a directory of layers. */
export const UPPER = "upper";
const WORK = "work";

/**
 * Makes what is not there yet, and opens it.
 *
 * @returns A descriptor of the directory.
 * @throws ConsentError `options_invalid` where it cannot be a directory that is ours alone.
 */
export function openLayers({ path, layers: directory = "" }: Workspace, user: AgentUser): number {
  const above = trustedPath(dirname(directory));
  if (typeof above !== "string") throw refused(directory, above.reason);
  make(directory);
  const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    if (fstatSync(fd).uid === process.getuid?.()) fchmodSync(fd, 0o700);
    // The workspace's own rights are those of its top folder inside.
    const { mode } = statSync(path);
    for (const [name, rights] of [
      [UPPER, (mode & 0o777) | 0o700],
      [WORK, 0o700],
    ] as const) {
      const layer = `/proc/self/fd/${fd}/${name}`;
      if (!make(layer)) continue;
      chmodSync(layer, rights);
      if (process.getuid?.() === 0) chownSync(layer, user.uid, user.gid);
    }
    if (process.getuid?.() === 0) fchownSync(fd, user.uid, user.gid);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw refused(directory, error instanceof Error ? error.message : String(error));
  }
}

/** @returns Whether it was not there. */
function make(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

function refused(path: string, why: string): ConsentError {
  return new ConsentError(
    "options_invalid",
    `Cannot keep what an agent writes in "${path}": ${why}`,
  );
}

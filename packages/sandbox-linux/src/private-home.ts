/**
 * Private home: a directory of the host that is an agent's home inside and stays when the agent
 * ends. The agent owns it and nothing above it, so that it cannot put another in its place.
 */
import { chmodSync, chownSync, closeSync, fstatSync, readdirSync } from "node:fs";
import { ConsentError } from "@acp/core";
import type { AgentUser, ConfinementOptions } from "./parts.js";
import { openPath, reopenWorkspace } from "./places.js";
import { requireTool } from "./tools.js";
import type { VisiblePlaces } from "./workspace.js";

const MODE = 0o700;

/**
 * Checks that nothing is asked for that a sandbox without rules for files cannot keep.
 *
 * @throws ConsentError `options_invalid`.
 */
export function refuseHome(
  sandbox: string,
  {
    home,
    writable = [],
    packages,
    ...options
  }: Pick<ConfinementOptions, "home" | "writable" | "packages" | "covered">,
): void {
  refuseCovered(sandbox, options);
  if (home === undefined && packages === undefined && writable.length === 0) return;
  const further = packages === undefined ? "further directories to write" : "packages";
  const what = home === undefined ? further : "a home that stays";
  throw new ConsentError(
    "options_invalid",
    `Cannot give an agent in "${sandbox}" ${what}: it has no files of its own; use namespace`,
  );
}

/**
 * Checks that nothing is to be covered where nothing can be mounted.
 *
 * @throws ConsentError `options_invalid`.
 */
export function refuseCovered(
  sandbox: string,
  { covered = [] }: Pick<ConfinementOptions, "covered">,
): void {
  if (covered.length === 0) return;
  throw new ConsentError(
    "options_invalid",
    `Cannot cover "${covered[0]}" in "${sandbox}": use namespace`,
  );
}

/** Opens again what an agent may write and closed to itself. */
export function reopenAll(
  { workspace, writable = [], home, view }: VisiblePlaces,
  user: AgentUser,
): void {
  // Below an overlay nothing is changed.
  if (view === undefined) {
    if (workspace !== undefined) reopenWorkspace(workspace, user);
    for (const path of writable) reopenWorkspace({ path, access: "read-write" }, user);
  }
  if (home !== undefined) giveHome(home, user);
}

/**
 * Makes it the user's, and opens it again for its owner: what an agent did to its own home must not
 * end its next start.
 *
 * @throws ConsentError `options_invalid` where it belongs to somebody else.
 */
function giveHome(path: string, { uid, gid }: AgentUser): void {
  const { fd } = openPath(path);
  const own = `/proc/self/fd/${fd}`;
  try {
    const found = fstatSync(fd);
    if (found.uid !== uid) {
      if (process.getuid?.() !== 0 || found.uid !== 0 || readdirSync(own).length > 0) {
        const why = `it belongs to user ${found.uid}, and the agent is user ${uid}`;
        throw new ConsentError(
          "options_invalid",
          `Cannot use "${path}" as a home: ${why}; name another directory, or remove this one`,
        );
      }
      chownSync(own, uid, gid);
    }
    chmodSync(own, MODE);
  } finally {
    closeSync(fd);
  }
}

/** `$1`: mount, `$2`: what, `$3`: where. */
const MOUNT = '"$1" --bind -- "$2" "$3" && shift 3 && exec "$@"';

/**
 * What comes before a command line of root's so that a home is there at another name as well, for
 * what it starts and for nobody else. The agent's user may not enter root's directories, where the
 * home is.
 */
export function mountedHome(home: string, at: string): readonly string[] {
  return [
    requireTool("unshare"),
    "--mount",
    "--",
    "/bin/sh",
    "-c",
    MOUNT,
    "sh",
    requireTool("mount"),
    home,
    at,
  ];
}

/**
 * Workspace guard: what of a workspace an agent reads and does not change, because other programs run it by themselves outside of the sandbox. Each is
 * mounted over itself; so is every folder above it, which then cannot be renamed to make room for another of its name.
 */
import type { AgentUser, Workspace } from "./parts.js";
import { findPersistent, isLink, isThere, parentsBetween } from "./persistent.js";
import { reopenFolder } from "./places.js";
import { liesIn, type VisiblePlaces } from "./workspace.js";

/** What is mounted over itself, by real paths. */
export interface WorkspaceGuard {
  /** All that was found in the workspace, whether it is held or not; `undefined` where nobody looked. */
  readonly found: readonly string[] | undefined;
  /** For reading. */
  readonly readOnly: readonly string[];
  /** As it was, so that it keeps its name: outermost first. */
  readonly pinned: readonly string[];
  /** What the operator gives back of a place that is read-only. */
  readonly writable: readonly string[];
  /** Whether all of the workspace was looked at, and all that was found is held. */
  readonly isComplete: boolean;
}

/** Each is a mount, and a descriptor while an agent starts. */
const MOUNTS_MAX = 256;
const NOTHING: WorkspaceGuard = { found: undefined, readOnly: [], pinned: [], writable: [], isComplete: true };

/**
 * Looks at a workspace, given by its real path. Links are left alone: there is nothing to mount on. What the agent's user has closed is opened again, so
 * that it is held, and can be looked at from inside.
 */
export function guardWorkspace(workspace: Workspace | undefined, user?: AgentUser): WorkspaceGuard {
  if (workspace === undefined || workspace.access !== "read-write") return NOTHING;
  const { path, writable = [] } = workspace;
  const reopen = (folder: string): void => (user === undefined ? undefined : reopenFolder(folder, user));
  const { places, isComplete } = findPersistent(path, { reopen });
  const guarded = places.filter((place) => !writable.some((each) => liesIn(place, each)) && !isLink(place));
  const readOnly: string[] = [];
  let pinned: readonly string[] = [];
  for (const place of [...guarded].sort((a, b) => depthOf(a) - depthOf(b))) {
    const more = parentsBetween(path, [...readOnly, place]);
    if (readOnly.length + 1 + more.length > MOUNTS_MAX) break;
    readOnly.push(place);
    pinned = more;
  }
  const given = writable.filter((each) => readOnly.some((place) => liesIn(each, place)) && isThere(each));
  return { found: places, readOnly, pinned, writable: given, isComplete: isComplete && readOnly.length === guarded.length };
}

/** Looks at all that an agent may write of the host. */
export function guardAll(
  { workspace, writable = [], view }: Pick<VisiblePlaces, "workspace" | "writable" | "view">,
  agentUser: AgentUser,
): WorkspaceGuard {
  // Below an overlay nothing is changed, and what is looked for is what the person has there.
  const user = view === undefined ? agentUser : undefined;
  const own = guardWorkspace(workspace, user);
  const guards = [own, ...writable.map((path) => guardWorkspace({ path, access: "read-write" }, user))];
  return {
    found: own.found,
    readOnly: guards.flatMap(({ readOnly }) => readOnly),
    pinned: guards.flatMap(({ pinned }) => pinned),
    writable: guards.flatMap((each) => each.writable),
    isComplete: guards.every(({ isComplete }) => isComplete),
  };
}

/** All of them, to be opened. */
export function guardedPaths({ pinned, readOnly, writable }: WorkspaceGuard): readonly string[] {
  return [...pinned, ...readOnly, ...writable];
}

function depthOf(path: string): number {
  return path.split("/").length;
}

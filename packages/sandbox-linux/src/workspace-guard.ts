/**
 * Workspace guard: what of a workspace an agent reads and does not change, because other programs
 * run it by themselves outside of the sandbox. Each is mounted over itself; so is every folder
 * above it, which then cannot be renamed to make room for another of its name.
 */
import type { AgentUser, Workspace } from "./parts.js";
import { isGitsOwn } from "./git-own.js";
import { isLink, isThere } from "./guarded-look.js";
import { findPersistent, parentsBetween } from "./persistent.js";
import { hasOtherNames } from "./persistent-state.js";
import { reopenFolder } from "./places.js";
import { liesIn, type VisiblePlaces } from "./workspace.js";

/** What is mounted over itself, by real paths. */
export interface WorkspaceGuard {
  /**
   * All that was found in the workspace, whether it is held or not; `undefined` where nobody
   * looked.
   */
  readonly found: readonly string[] | undefined;
  /**
   * What of it the agent can write: more than can be mounted, or a file with other names. Links,
   * and what the operator gave back, are not in it.
   */
  readonly unheld: readonly string[];
  /** For reading. */
  readonly readOnly: readonly string[];
  /** As it was, so that it keeps its name: outermost first. */
  readonly pinned: readonly string[];
  /** What the operator gives back of a place that is read-only. */
  readonly writable: readonly string[];
  /** Whether all of the workspace was looked at, and all that was found is held. */
  readonly isComplete: boolean;
}

/**
 * Each is a mount, and a descriptor while an agent starts. bubblewrap reads its list of mounts once
 * for each of them: twice as many take four times as long.
 */
const MOUNTS_MAX = 256;
const NOTHING: WorkspaceGuard = {
  found: undefined,
  unheld: [],
  readOnly: [],
  pinned: [],
  writable: [],
  isComplete: true,
};

/**
 * Looks at a workspace, given by its real path. Links are left alone: there is nothing to mount on.
 * What the agent's user has closed is opened again, so that it is held, and can be looked at from
 * inside.
 */
export function guardWorkspace(workspace: Workspace | undefined, user?: AgentUser): WorkspaceGuard {
  if (workspace === undefined || workspace.access !== "read-write") return NOTHING;
  const { path, writable = [], known = [] } = workspace;
  const reopen = (folder: string): void =>
    user === undefined ? undefined : reopenFolder(folder, user);
  const { places, isComplete } = findPersistent(path, { reopen, known });
  const guarded = places.filter(
    (place) => !writable.some((each) => liesIn(place, each)) && !isLink(place),
  );
  const { readOnly, pinned } = hold(path, guarded, known);
  const held = new Set(readOnly);
  const unheld = guarded.filter((place) => !held.has(place) || hasOtherNames(place));
  const given = writable.filter(
    (each) => readOnly.some((place) => liesIn(each, place)) && isThere(each),
  );
  return {
    found: places,
    unheld,
    readOnly,
    pinned,
    writable: given,
    isComplete: isComplete && unheld.length === 0,
  };
}

/**
 * As many as can be mounted with the folders above them; what an agent cannot have put there to
 * crowd out others comes first.
 */
function hold(
  workspace: string,
  guarded: readonly string[],
  known: readonly string[],
): Pick<WorkspaceGuard, "readOnly" | "pinned"> {
  const all = parentsBetween(workspace, guarded);
  if (guarded.length + all.length <= MOUNTS_MAX)
    return { readOnly: [...guarded].sort(nearestFirst), pinned: all };
  const readOnly: string[] = [];
  const pinned = new Set<string>();
  for (const place of byImportance(guarded, known)) {
    const more = parentsBetween(workspace, [place]).filter((each) => !pinned.has(each));
    if (readOnly.length + pinned.size + 1 + more.length > MOUNTS_MAX) continue;
    readOnly.push(place);
    for (const each of more) pinned.add(each);
    if (readOnly.length + pinned.size === MOUNTS_MAX) break;
  }
  return { readOnly: readOnly.sort(nearestFirst), pinned: parentsBetween(workspace, readOnly) };
}

/**
 * What an agent leaves is set aside unless Git makes it just so: it can fill a workspace with
 * nothing else. So that comes last, what was there first before the rest, and what is nearest
 * before what is deep.
 */
function byImportance(places: readonly string[], known: readonly string[]): readonly string[] {
  const rank = new Map(known.map((place, index) => [place, index]));
  const oldestFirst = (one: string, other: string): number =>
    (rank.get(one) ?? known.length) - (rank.get(other) ?? known.length);
  const all = places.toSorted(nearestFirst).sort(oldestFirst);
  const own = new Set(all.filter(isGitsOwn));
  return [...all.filter((place) => !own.has(place)), ...own];
}

/** Looks at all that an agent may write of the host. */
export function guardAll(
  { workspace, writable = [], view }: Pick<VisiblePlaces, "workspace" | "writable" | "view">,
  agentUser: AgentUser,
): WorkspaceGuard {
  // Below an overlay nothing is changed, and what is looked for is what the person has there.
  const user = view === undefined ? agentUser : undefined;
  const own = guardWorkspace(workspace, user);
  const guards = [
    own,
    ...writable.map((path) => guardWorkspace({ path, access: "read-write" }, user)),
  ];
  return {
    found: own.found,
    unheld: own.unheld,
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

function nearestFirst(one: string, other: string): number {
  const deeper = one.split("/").length - other.split("/").length;
  return deeper === 0 ? (one < other ? -1 : 1) : deeper;
}

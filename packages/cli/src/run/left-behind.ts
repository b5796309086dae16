/**
 * Left behind: what an agent has put into its workspace that other programs will run by themselves.
 * The guard keeps what was there before; what is new is set aside when the agent has ended, and a
 * person is told, and the log.
 */
import { realpathSync } from "node:fs";
import { relative } from "node:path";
import { escapeText } from "@acp/core";
import {
  fileKey,
  findPersistent,
  isGitsOwn,
  reopenFolder,
  setAside,
  stateOf,
} from "@acp/sandbox-linux";
import type { HeldNameChange, SetAside, Workspace } from "@acp/sandbox-linux";

/** What is known of a workspace before an agent begins. */
export interface WorkspaceBefore {
  /** Its real path. */
  readonly path: string;
  /** What others run of it; absolute paths. */
  readonly places: readonly string[];
  /**
   * What each of these is, in their order, where each is held, or its last change counts; empty
   * where nothing is held.
   */
  readonly ids: readonly string[];
  /** What of it the operator gave to the agent; absolute paths. */
  readonly writable: readonly string[];
}

const NAMES_MAX = 10;
/** The key of no file. */
const GONE = "gone";
const INCOMPLETE =
  "The workspace has too many entries, or folders that cannot be read or whose names are not UTF-8, to be searched to its end for files that other programs run";

/** What a sandbox knows of a workspace. */
export interface SeenWorkspace {
  /** What it saw there a moment ago, which saves a look. */
  readonly seen?: readonly string[] | undefined;
  /** Whether it holds that. */
  readonly isHeld: boolean;
  /** What of it is not held all the same. */
  readonly unheld?: readonly string[] | undefined;
}

/** Looks at a workspace before the agent begins; undefined where it can leave nothing there. */
export function lookBefore(
  workspace: Workspace | undefined,
  { seen, isHeld, unheld = [] }: SeenWorkspace = { isHeld: false },
): WorkspaceBefore | undefined {
  if (workspace?.access !== "read-write") return undefined;
  const path = realpathSync(workspace.path);
  const { known = [], writable = [] } = workspace;
  const free = new Set(unheld);
  const places = seen ?? findPersistent(path, { known }).places;
  return {
    path,
    places,
    ids: isHeld ? places.map((place) => (free.has(place) ? stateOf(place) : fileKey(place))) : [],
    writable,
  };
}

/**
 * The same, after somebody outside has changed a file that is held: what is there now is known as
 * well, and what is gone comes back as something new.
 */
export function afterChange(
  before: WorkspaceBefore,
  { place, key }: HeldNameChange,
): WorkspaceBefore {
  const at = before.places.indexOf(place);
  return at === -1 || before.ids.length === 0
    ? before
    : { ...before, ids: before.ids.with(at, key === "" ? GONE : key) };
}

/** What a person should know of it. */
export function sayChange({ place, state }: HeldNameChange, workspace: string): string {
  const name = escapeText(relative(workspace, place));
  return state === "held"
    ? `${name} was replaced outside while the command ran, and is read-only for it again.`
    : `${name} was removed outside while the command ran. What has that name later is new, and is set aside when the command has ended.`;
}

/** Sets aside what is new. Returns what a person should know; undefined where there is nothing. */
export function setNewAside({
  path,
  places: before,
  ids,
  writable,
}: WorkspaceBefore): string | undefined {
  // What the agent closed is looked into now: the next start would open it, and take what is there
  // for the person's.
  const uid = process.getuid?.();
  const reopen = (folder: string): void =>
    uid === undefined ? undefined : reopenFolder(folder, { uid });
  const { places, isComplete } = findPersistent(path, { reopen, known: before });
  const known = new Map(before.map((place, index) => [place, ids[index]]));
  // Another file than was held: nobody could say that the agent had not written it.
  const isKnown = (place: string): boolean =>
    known.has(place) && [undefined, fileKey(place), stateOf(place)].includes(known.get(place));
  const given = (place: string): boolean =>
    writable.some((each) => place === each || place.startsWith(`${each}/`));
  const fresh = places.filter((place) => !isKnown(place) && !given(place) && !isGitsOwn(place));
  if (fresh.length === 0) return isComplete ? undefined : INCOMPLETE;
  const all = setAside(path, fresh);
  const parts = [
    say(
      path,
      all.filter(isMoved),
      "They have other names now, so that nothing runs them before you have looked",
    ),
    say(
      path,
      all.filter((each) => !isMoved(each)),
      "These could not be renamed; look at them before you work there",
    ),
    ...(isComplete ? [] : [INCOMPLETE]),
  ];
  return [
    "Files were left that other programs run by themselves.",
    ...parts.filter((part) => part !== ""),
  ].join(" ");
}

function isMoved({ aside }: SetAside): boolean {
  return aside !== undefined;
}

function say(path: string, all: readonly SetAside[], what: string): string {
  if (all.length === 0) return "";
  const name = (place: string): string => escapeText(relative(path, place));
  const names = all
    .slice(0, NAMES_MAX)
    .map(({ place, aside }) =>
      aside === undefined ? name(place) : `${name(place)} → ${name(aside)}`,
    );
  return `${what}: ${names.join(", ")}${all.length > NAMES_MAX ? ` and ${all.length - NAMES_MAX} more` : ""}.`;
}

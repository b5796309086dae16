/**
 * Left behind: what an agent has put into its workspace that other programs will run by themselves. The guard keeps what was there before; what is new is
 * set aside when the agent has ended, and a person is told, and the log.
 */
import { realpathSync } from "node:fs";
import { relative } from "node:path";
import { escapeText } from "@acp/core";
import { findPersistent, isGitsOwn, setAside } from "@acp/sandbox-linux";
import type { SetAside, Workspace } from "@acp/sandbox-linux";

/** What is known of a workspace before an agent begins. */
export interface WorkspaceBefore {
  /** Its real path. */
  readonly path: string;
  /** What others run of it; absolute paths. */
  readonly places: readonly string[];
  /** What of it the operator gave to the agent; absolute paths. */
  readonly writable: readonly string[];
}

const NAMES_MAX = 10;

/**
 * Looks at a workspace before the agent begins; undefined where it can leave nothing there.
 *
 * @param seen - What a sandbox saw there a moment ago, which saves a look.
 */
export function lookBefore(workspace: Workspace | undefined, seen?: readonly string[]): WorkspaceBefore | undefined {
  if (workspace?.access !== "read-write") return undefined;
  const path = realpathSync(workspace.path);
  return { path, places: seen ?? findPersistent(path).places, writable: workspace.writable ?? [] };
}

/** Sets aside what is new. Returns what a person should know; undefined where there is nothing. */
export function setNewAside({ path, places: before, writable }: WorkspaceBefore): string | undefined {
  const { places, isComplete } = findPersistent(path);
  const known = new Set(before);
  const given = (place: string): boolean => writable.some((each) => place === each || place.startsWith(`${each}/`));
  const fresh = places.filter((place) => !known.has(place) && !given(place) && !isGitsOwn(place));
  if (fresh.length === 0) return undefined;
  const all = setAside(path, fresh);
  const parts = [
    say(path, all.filter(isMoved), "They have other names now, so that nothing runs them before you have looked"),
    say(
      path,
      all.filter((each) => !isMoved(each)),
      "These could not be renamed; look at them before you work there",
    ),
    ...(isComplete ? [] : ["The workspace has too many entries to be searched to its end"]),
  ];
  return ["The command left files that other programs run by themselves.", ...parts.filter((part) => part !== "")].join(" ");
}

function isMoved({ aside }: SetAside): boolean {
  return aside !== undefined;
}

function say(path: string, all: readonly SetAside[], what: string): string {
  if (all.length === 0) return "";
  const name = (place: string): string => escapeText(relative(path, place));
  const names = all.slice(0, NAMES_MAX).map(({ place, aside }) => (aside === undefined ? name(place) : `${name(place)} → ${name(aside)}`));
  return `${what}: ${names.join(", ")}${all.length > NAMES_MAX ? ` and ${all.length - NAMES_MAX} more` : ""}.`;
}

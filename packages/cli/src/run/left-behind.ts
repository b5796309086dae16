/**
 * Left behind: what an agent has put into its workspace that other programs will run by themselves. The guard keeps what was there before; what is new
 * a person is told about, and the log.
 */
import { realpathSync } from "node:fs";
import { relative } from "node:path";
import { escapeText } from "@acp/core";
import { findPersistent, isGitsOwn } from "@acp/sandbox-linux";
import type { Workspace } from "@acp/sandbox-linux";

/** Looks once more, after the agent. */
export interface LookBehind {
  /** What a person should know; left out where there is nothing. */
  readonly notice: () => string | undefined;
}

const NAMES_MAX = 10;

/** Looks at a workspace before the agent starts. */
export function watchWorkspace(workspace: Workspace | undefined): LookBehind {
  if (workspace === undefined || workspace.access === "read-only") return { notice: () => undefined };
  const path = realpathSync(workspace.path);
  const before = new Set(findPersistent(path).places);
  return {
    notice() {
      const { places, isComplete } = findPersistent(path);
      const fresh = places.filter((place) => !before.has(place) && !isGitsOwn(place));
      if (fresh.length === 0) return undefined;
      const names = fresh.slice(0, NAMES_MAX).map((place) => escapeText(relative(path, place)));
      const more = fresh.length > NAMES_MAX || !isComplete ? " and more" : "";
      return `The command left files that other programs run by themselves; look at them before you work there: ${names.join(", ")}${more}`;
    },
  };
}

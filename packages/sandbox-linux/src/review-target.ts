/** Review target: where a link of a workspace leads, as it is or as a change will have it. */
import { readlinkSync } from "node:fs";
import { join } from "node:path";
import type { FileState } from "./review-parts.js";

/** A change, as far as it counts here. */
export interface LinkChange {
  readonly after: FileState | null;
}

/** The target; `undefined` where there is no link. */
export function readTarget(
  workspace: string,
  path: string,
  changes: ReadonlyMap<string, LinkChange>,
): string | undefined {
  const change = changes.get(path);
  if (change !== undefined) return change.after?.kind === "link" ? change.after.target : undefined;
  try {
    return readlinkSync(join(workspace, path));
  } catch {
    return undefined; // no link, or nothing
  }
}

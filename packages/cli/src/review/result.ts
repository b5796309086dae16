/** Review result: what was taken of a review and what was not, and why. */
import { escapeText } from "@acp/core";
import type { Settled } from "./settle.js";
import type { Review } from "./store.js";

/** What was taken and what was not. */
export function resultOf(
  { id }: Review,
  { taken, already, conflicts, apart, failed, isOver }: Settled,
): readonly string[] {
  const list = (title: string, paths: readonly string[]): readonly string[] =>
    paths.length === 0
      ? []
      : [
          `${title}: ${paths.slice(0, 10).map(escapeText).join(", ")}${paths.length > 10 ? ` and ${paths.length - 10} more` : ""}`,
        ];
  return [
    `Took ${taken.length} ${taken.length === 1 ? "change" : "changes"}${already.length === 0 ? "" : `; ${already.length} were already as wanted`}`,
    ...list("Not taken, since the workspace has something else there", conflicts),
    ...list(
      "Not taken, since other programs run them by themselves; name them to take them",
      apart,
    ),
    ...list(
      "Could not be taken",
      failed.map(({ path, reason }) => `${path} (${reason})`),
    ),
    isOver ? `Nothing is left of review ${id}` : `The rest stays: acp review show ${id}`,
  ];
}

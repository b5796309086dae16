/** Trial text: what an agent and a person read about what a trial wrote. */
import { relative } from "node:path";
import { quoteText } from "@acp/core";
import type { KeptWrites, TrialState, TrialWrites } from "@acp/core";
import { LINES_MAX, type TrialResult, type Tried } from "./trial-result.js";

type Change = TrialWrites["changes"][number];

const sizeOf = (state: TrialState | null): string =>
  state === null ? "" : state.kind === "file" ? ` (${state.size ?? 0} bytes)` : ` (${state.kind})`;

/** One line of a change; a path that could pass for another line is quoted. */
export function changeLine({ path, before, after }: Change): string {
  const mark = before === null ? "+" : after === null ? "-" : "~";
  return `${mark} ${quoteText(path)}${sizeOf(after)}`;
}

/** What is to be kept of it. */
export function keepable({ changes }: TrialWrites): readonly Change[] {
  return changes.filter(({ apart }) => apart === null);
}

/** What of a workspace was covered, by paths below it. */
export function coveredBelow(workspace: string, covered: readonly string[]): readonly string[] {
  return covered.slice(0, LINES_MAX).map((path) => relative(workspace, path));
}

function listed(what: string, lines: readonly string[], count: number): readonly string[] {
  if (count === 0) return [];
  return [what, ...lines, ...(count > lines.length ? [`… and ${count - lines.length} more`] : [])];
}

function endOf({ outcome }: Tried): string {
  if (outcome.end === "exited") return `exit code ${outcome.exitCode}`;
  if (outcome.end === "signalled") return `ended by ${outcome.signal}`;
  return "reason" in outcome ? `${outcome.end}: ${outcome.reason}` : outcome.end;
}

/**
 * A text for the agent about its trial, in addition to the output: how it ended and what it wrote,
 * or why there was no trial.
 */
export function trialMessage(result: TrialResult): string {
  if (!result.tried) return `The command was not tried: ${result.reason}.`;
  const { changes, changeCount, neverKept, covered, coveredCount, digest } = result;
  return [
    `This was a trial (${endOf(result)}): offline, in a throw-away copy of the workspace, with no home and no secrets. Not kept: nothing that it wrote is in the workspace.`,
    ...listed("It looked empty there, whatever is in it:", covered, coveredCount),
    ...listed("It wrote, and that is gone unless it is kept:", changes, changeCount),
    ...(neverKept === 0
      ? []
      : [
          `${neverKept} of these are never kept: other programs run them by themselves, or they lead out of the workspace.`,
        ]),
    ...(digest === undefined
      ? ["There is nothing to keep. To run the command for real, ask for it."]
      : [
          `To keep just these writes, ask with the digest ${digest}; to run the command for real, ask for it. A person is asked either way.`,
        ]),
  ].join("\n");
}

/** A text for the agent about the paths that were kept, and those that were not. */
export function keptMessage({ taken, already, conflicts, apart, failed }: KeptWrites): string {
  const done = `Kept: ${taken.length + already.length} paths are in the workspace.`;
  return [
    done,
    ...listed(
      "Not kept, since the workspace is not as it was before the trial:",
      conflicts.slice(0, LINES_MAX),
      conflicts.length,
    ),
    ...listed(
      "Not kept, since other programs run them by themselves:",
      apart.slice(0, LINES_MAX),
      apart.length,
    ),
    ...listed(
      "Failed:",
      failed.slice(0, LINES_MAX).map(({ path, reason }) => `${path}: ${reason}`),
      failed.length,
    ),
  ].join("\n");
}

/**
 * Patch: `apply_patch`, by which some agents edit files through a shell. The files that a patch
 * names are written, moved or deleted; whatever else is in it is text. What cannot be read before
 * it runs is not known to be an edit.
 */
import { shown } from "../text/shown.js";
import { review } from "../findings.js";
import type { Finding, Report } from "../findings.js";
import { pathProblem } from "./paths.js";
import type { RunPlace } from "../config/run-place.js";
import type { Span } from "../parse/tree.js";

/** Names under which agents install it. */
export const PATCH_PROGRAMS: ReadonlySet<string> = new Set(["apply_patch", "applypatch"]);

/** One file of a patch. */
export interface PatchedFile {
  readonly path: string;
  readonly deed: "adds" | "edits" | "moves to" | "deletes";
}

const DEEDS: Readonly<Record<string, PatchedFile["deed"]>> = {
  "Add File": "adds",
  "Update File": "edits",
  "Move to": "moves to",
  "Delete File": "deletes",
};
/** Files that are named one by one. */
const FILES_MAX = 6;

/** The files of a patch, in order; empty where the text is none. */
export function patchedFiles(text: string): readonly PatchedFile[] {
  return Array.from(
    text.matchAll(/^\*\*\* (Add File|Update File|Move to|Delete File):[ \t]*(.*\S)[ \t]*$/gm),
    ([, head = "", path = ""]) => ({
      path,
      deed: DEEDS[head] ?? "edits",
    }),
  );
}

/**
 * Reports what a call of `apply_patch` writes. Always at least one finding: an edit is never safe.
 */
export function judgePatch(
  text: string | undefined,
  place: RunPlace,
  { report, span }: { readonly report: Report; readonly span: Span },
): void {
  const files = text === undefined ? [] : patchedFiles(text);
  const say = (what: string, message: string): Finding =>
    review("safe-binaries", { ruleId: `apply_patch.${what}`, span, message });
  if (files.length === 0)
    return report(say("unknown", "`apply_patch` edits files that are known only when it runs"));
  for (const { path } of files) {
    const problem = pathProblem({ text: path, isGlob: false }, place);
    if (problem !== undefined)
      report(
        say(problem.ruleId.replace("path.", ""), `\`apply_patch\` writes, and ${problem.message}`),
      );
  }
  const named = files.slice(0, FILES_MAX).map(({ path, deed }) => `${deed} ${shown(path)}`);
  const more = files.length > FILES_MAX ? ` and ${files.length - FILES_MAX} more` : "";
  report(say("write", `\`apply_patch\` ${named.join(", ")}${more}`));
}

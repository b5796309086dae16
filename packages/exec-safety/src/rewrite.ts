/**
 * Rewrite: the text that is safe in place of one that is not, where a few options are all that it
 * lacks.
 */
import type { Edit, Finding } from "./findings.js";
import type { CommandRewrite } from "./safety.js";

/**
 * The command with everything in it that would mend it; undefined where something else is wrong as
 * well.
 */
export function rewritten(
  command: string,
  findings: readonly Finding[],
): CommandRewrite | undefined {
  const edits = new Map<string, Edit>();
  for (const finding of findings) {
    if (finding.edits === undefined || finding.edits.length === 0) return undefined;
    for (const edit of finding.edits) edits.set(`${edit.at} ${edit.text}`, edit);
  }
  let text = command;
  // From the end, so that what comes before keeps its place.
  for (const { at, text: added, behind } of [...edits.values()].sort(
    (one, other) => other.at - one.at,
  )) {
    if (behind === "" || text.slice(at - behind.length, at) !== behind) return undefined;
    text = text.slice(0, at) + added + text.slice(at);
  }
  const reasons = [...edits.values()].map(({ reason = LEAVES_OUT }) => reason);
  return text === command ? undefined : { command: text, reason: [...new Set(reasons)].join("; ") };
}

const LEAVES_OUT =
  "leaves out the files and folders that usually hold credentials, such as .env, keys and .git; the rest is the same";

/**
 * Rule text: a rule as it was in force at a moment, from the policy texts that the home keeps. What
 * is not kept is said to be so; today's text is never shown in its place.
 */
import type { AuditEvent } from "@acp/audit";
import { readPolicy } from "@acp/core/yaml";
import { type PolicyNote, readPolicyNote, trackPolicyNotes } from "../logs/policy-notes.js";
import { readKeptPolicy } from "../gate/kept-policies.js";
import type { RuleText } from "./explanation.js";
import type { FindEvents, FoundEvent } from "./find-events.js";

/** The texts of a rule, or why there is none. */
export interface RuleTexts {
  readonly texts: readonly RuleText[];
  readonly missing?: string;
}

/** Where to look. */
export interface RuleTextParts {
  readonly find: FindEvents;
  /** The home's directory. */
  readonly home: string;
}

/** Finds a rule as it was when an event was written. */
export async function findRuleTexts(
  { event, log }: FoundEvent,
  { ruleId, layer }: { readonly ruleId: string; readonly layer: string },
  { find, home }: RuleTextParts,
): Promise<RuleTexts> {
  const isPolicy = layer === "rules" || layer === "" || ruleId === "default";
  if (!isPolicy)
    return { texts: [], missing: `it is a rule of ACP itself (${layer}), not of a policy` };
  const notes = await notesAt({ event, log }, find);
  if (notes.length === 0)
    return { texts: [], missing: "the log does not say which policy was in force" };
  const texts: RuleText[] = [];
  let kept = 0;
  for (const { policy, file } of notes) {
    const text = await readKeptPolicy(home, policy);
    if (text === undefined) continue;
    kept += 1;
    const rule = ruleIn(text, ruleId);
    if (rule !== undefined) texts.push({ file, policy, ...rule });
  }
  if (texts.length > 0) return { texts };
  const hashes = notes.map(({ policy }) => policy).join(", ");
  return {
    texts,
    missing:
      kept < notes.length
        ? `the policy that was in force is not kept in this home (${hashes})`
        : `the policy that was in force has no rule of this name (${hashes})`,
  };
}

/** The policies in force when an event was written. */
async function notesAt(
  { event: at, log }: FoundEvent,
  find: FindEvents,
): Promise<readonly PolicyNote[]> {
  const notices = { eventType: "gate_notice" };
  const eventType = ["gate_notice", "log_opened"];
  const before = { filter: { eventType, beforeSeq: at.seq + 1 }, log, isBackward: true };
  const own: AuditEvent[] = [];
  let firstMs = Infinity;
  let isWhole = false;
  for await (const { event } of find(before)) {
    // A process that finds work left open says first that it opened the log, and the monotonic time
    // begins anew with each, which may use other files.
    if (event.eventType === "log_opened" || (event.monoMs ?? 0) > firstMs) {
      isWhole = true;
      break;
    }
    firstMs = event.monoMs ?? firstMs;
    if (readPolicyNote(event) !== undefined) own.push(event);
  }
  const notes = trackPolicyNotes();
  for (const event of own.toReversed()) notes.add(event);
  const current = notes.current();
  if (isWhole || current.length > 0) return current;
  const again: PolicyNote[] = [];
  for await (const { event } of find({ filter: { ...notices, fromSeq: at.seq + 1 }, log })) {
    const note = readPolicyNote(event);
    if (note?.isAgain === true && note.sinceMs <= at.atMs) again.push(note);
  }
  return again;
}

/** A rule in a policy's text: from its line to where the next one begins, or the list ends. */
export function ruleIn(text: string, ruleId: string): Pick<RuleText, "line" | "text"> | undefined {
  const lines = text.split(/\r?\n/);
  if (ruleId === "default") {
    const at = lines.findIndex((line) => /^["']?default(?:_action)?["']?\s*:/.test(line));
    const line = lines[at];
    return line === undefined ? undefined : { line: at + 1, text: line.trimEnd() };
  }
  const line = lineOf(text, ruleId);
  if (line === undefined) return undefined;
  const first = lines[line - 1] ?? "";
  const indent = indentOf(first);
  let end = line;
  while (end < lines.length && belongs(lines[end] ?? "", indent)) end += 1;
  const own = lines
    .slice(line - 1, end)
    .map((each) => each.slice(Math.min(indent, indentOf(each))));
  return { line, text: own.join("\n").trimEnd() };
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** Whether a line is part of the list's item that began at this indent. */
function belongs(line: string, indent: number): boolean {
  return line.trim() === "" || (indentOf(line) > indent && !line.trim().startsWith("#"));
}

/** Paths of the rule may begin anywhere: only its place is looked for. */
function lineOf(text: string, ruleId: string): number | undefined {
  try {
    return readPolicy(text, { home: "/", cwd: "/" }).rules.find((rule) => rule.ruleId === ruleId)
      ?.line;
  } catch {
    return undefined;
  }
}

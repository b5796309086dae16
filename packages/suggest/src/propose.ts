/**
 * Proposing: from what was answered alike to rules that would answer it, the narrowest ones. A rule
 * that would go too far is tried again for parts of the calls. Nothing is promised yet: check.ts
 * holds each proposal against the whole log. Pure.
 */
import { canonicalJson } from "@acp/core";
import type { JsonObject, Policy } from "@acp/core";
import { conjoin } from "./conjoin.js";
import { leavesOf, valueAt } from "./leaves.js";
import type { Lesson, LessonGroup } from "./lessons.js";
import { allowDraft, argumentsOf, denyDraft } from "./match-of.js";
import type { MatchDraft, NoMatch, RuleCover } from "./match-of.js";
import { commonPlace, placeOf } from "./places.js";
import type { PolicyDocument } from "./policy-document.js";
import { ruleId } from "./rule-id.js";
import { readRuleText, ruleText } from "./rule-text.js";
import { traitOf } from "./traits.js";

/** A rule that may be suggested. */
export interface Proposal {
  readonly effect: "allow" | "deny";
  readonly group: LessonGroup;
  /** As policy data. */
  readonly rule: JsonObject;
  /** As text to paste. */
  readonly yaml: string;
  /** The policy with the rule in its place. */
  readonly policy: Policy;
  readonly covers: readonly RuleCover[];
  readonly relative: readonly (readonly string[])[];
}

/** What came of a group: rules, or why there is none. */
export type Proposed = { readonly proposals: readonly Proposal[] } | { readonly problem: string };

/** What proposing needs besides the lessons. */
export interface ProposeContext {
  readonly document: PolicyDocument;
  readonly effect: "allow" | "deny";
  /** How often something was answered alike before it counts. */
  readonly min: number;
  /** What speaks for a rule counts from this time on. What speaks against it counts always. */
  readonly sinceMs: number;
  /** Ids that are taken. */
  readonly ids: Set<string>;
}

/** Answers that lie within this time were given in one go. */
const SITTING_MS = 60_000;
/** Into how many rules one argument may divide what could be one. */
const PARTS_MAX = 8;

/** Rules for the calls of one group. */
export function propose(group: LessonGroup, context: ProposeContext): Proposed {
  const support = group.lessons.filter((lesson) => timesOf(lesson, context).length > 0);
  return isEnough(support, context) ? proposeFor(support, group, context) : { problem: "too few" };
}

function proposeFor(
  support: readonly Lesson[],
  group: LessonGroup,
  context: ProposeContext,
): Proposed {
  const divided = divideByValue(support, group, context);
  if (divided !== undefined) return together(divided, group, context);
  const draft = draftFor(support, group, context);
  const found = "problem" in draft ? draft : build(draft, { support, group }, context);
  if (!("problem" in found)) return { proposals: [found] };
  const parts = divideFurther(support, "problem" in draft ? draft.at : undefined, {
    group,
    context,
  });
  const smaller = together(parts, group, context);
  return "proposals" in smaller ? smaller : { problem: found.problem };
}

/** What comes of the parts that are large enough. */
function together(
  parts: readonly (readonly Lesson[])[],
  group: LessonGroup,
  context: ProposeContext,
): Proposed {
  const proposals = parts
    .filter((part) => isEnough(part, context))
    .flatMap((part) => {
      const proposed = proposeFor(part, group, context);
      return "proposals" in proposed ? proposed.proposals : [];
    });
  return proposals.length === 0 ? { problem: "too few" } : { proposals };
}

/** When a call was answered in the way that the rule would answer it. */
function timesOf(
  { approvedAtMs, deniedAtMs }: Lesson,
  { effect, sinceMs }: ProposeContext,
): readonly number[] {
  return (effect === "allow" ? approvedAtMs : deniedAtMs).filter((atMs) => atMs >= sinceMs);
}

/**
 * Whether there are enough answers, and for a yes not all of them given in one go: a batch is one
 * decision.
 */
function isEnough(support: readonly Lesson[], context: ProposeContext): boolean {
  const times = support.flatMap((lesson) => timesOf(lesson, context)).toSorted((a, b) => a - b);
  if (times.length < context.min) return false;
  return context.effect === "deny" || (times.at(-1) ?? 0) - (times[0] ?? 0) > SITTING_MS;
}

/**
 * Calls that differ in an argument of which each value has enough answers of its own: one narrow
 * rule for each.
 */
function divideByValue(
  support: readonly Lesson[],
  { isReading }: LessonGroup,
  context: ProposeContext,
): readonly (readonly Lesson[])[] | undefined {
  if (context.effect === "deny") return undefined;
  const leaves = leavesOf(support.map(({ action }) => argumentsOf(action))) ?? [];
  for (const leaf of leaves) {
    if (
      leaf.values.length < 2 ||
      leaf.values.length > PARTS_MAX ||
      leaf.hasGaps ||
      traitOf(leaf, isReading) === "path"
    )
      continue;
    const parts = partsBy(support, ({ action }) =>
      canonicalJson(valueAt(argumentsOf(action), leaf.path) ?? null),
    );
    if (
      parts.length > 1 &&
      parts.length <= PARTS_MAX &&
      parts.every((part) => isEnough(part, context))
    )
      return parts;
  }
  return undefined;
}

function draftFor(
  support: readonly Lesson[],
  group: LessonGroup,
  { document, effect }: ProposeContext,
): MatchDraft | NoMatch {
  const actions = support.map(({ action }) => action);
  const context = { shape: group.shape, isReading: group.isReading, origins: document.origins };
  if (effect === "allow") return allowDraft(actions, context);
  return denyDraft(actions, context, !group.lessons.some(({ wasApproved }) => wasApproved));
}

/** The rule in its place, tried out on what was learned. */
function build(
  draft: MatchDraft,
  { support, group }: { readonly support: readonly Lesson[]; readonly group: LessonGroup },
  context: ProposeContext,
): Proposal | NoMatch {
  const { document, effect } = context;
  const asking = group.askedBy === undefined ? undefined : document.rules[group.askedBy];
  const joined = conjoin({ match: draft.match, effect }, asking, document.origins);
  if (joined === undefined)
    return { problem: "the rule that asks looks at the same argument in another way" };
  const meant = { id: ruleId(group.shape, effect, context.ids), ...joined };
  const yaml = ruleText(meant, document.indent);
  const rule = readRuleText(yaml, meant);
  const policy = rule === undefined ? undefined : document.with(rule, group.askedBy);
  if (rule === undefined || policy === undefined)
    return { problem: "its names cannot stand in a rule" };
  const isAbout = ({ action, askedAtMs }: Lesson): boolean =>
    policy.judge(action, { agent: { id: "" }, nowMs: askedAtMs })?.ruleId === meant.id;
  if (!support.every(isAbout)) return { problem: "no single pattern covers all of it" };
  const against = group.lessons
    .filter(({ wasApproved, wasObjected }) => (effect === "allow" ? wasObjected : wasApproved))
    .filter(isAbout);
  if (against.length > 0)
    return {
      problem:
        effect === "allow"
          ? "you denied or edited a call that it would cover"
          : "you approved a call that it would cover",
    };
  context.ids.add(meant.id);
  return { effect, group, rule, yaml, policy, covers: draft.covers, relative: draft.relative };
}

/**
 * Smaller sets of calls: by the value of the argument that stands in the way, or by the next
 * directory of one that is a path.
 */
function divideFurther(
  support: readonly Lesson[],
  at: readonly string[] | undefined,
  { group, context }: { readonly group: LessonGroup; readonly context: ProposeContext },
): readonly (readonly Lesson[])[] {
  const { origins } = context.document;
  for (const leaf of leavesOf(support.map(({ action }) => argumentsOf(action))) ?? []) {
    const isCulprit = at !== undefined && leaf.path.join(".") === at.join(".");
    if (leaf.values.length < 2 || (at !== undefined && !isCulprit)) continue;
    const isPath = traitOf(leaf, group.isReading) === "path";
    if (!isPath && !isCulprit) continue;
    const places = leaf.values.flatMap((value) =>
      typeof value === "string" ? (placeOf(value, origins) ?? []) : [],
    );
    const depth = commonPlace(places)?.segments.length ?? 0;
    const parts = partsBy(support, ({ action }) => {
      const value = valueAt(argumentsOf(action), leaf.path);
      const place = isPath && typeof value === "string" ? placeOf(value, origins) : undefined;
      return place === undefined
        ? canonicalJson(value ?? null)
        : JSON.stringify([place.base, place.segments.slice(0, depth + 1)]);
    });
    if (parts.length > 1) return parts;
  }
  return group.shape.kind === "shell" ? oneEach(support) : [];
}

/** Commands have no arguments to divide them by. */
function oneEach(support: readonly Lesson[]): readonly (readonly Lesson[])[] {
  return support.length > 1 ? support.map((lesson) => [lesson]) : [];
}

function partsBy(
  support: readonly Lesson[],
  keyOf: (lesson: Lesson) => string,
): readonly (readonly Lesson[])[] {
  const parts = new Map<string, Lesson[]>();
  for (const lesson of support) {
    const key = keyOf(lesson);
    const part = parts.get(key);
    if (part === undefined) parts.set(key, [lesson]);
    else part.push(lesson);
  }
  return [...parts.values()];
}

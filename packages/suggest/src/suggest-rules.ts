/**
 * Suggesting rules: what people always answered alike, as rules that would answer it. Reads a log
 * twice: once to learn, once to hold every rule against all of it. Never writes anything. Pure but
 * for the reading, which is the caller's. What is never suggested: docs/how-to/suggest.md.
 */
import { ConsentError } from "@acp/core";
import type { JsonObject } from "@acp/core";
import { reachKeyOf } from "@acp/core/unstable";
import { BAR_TEXTS } from "./bars.js";
import { createChecker } from "./check.js";
import type { Checked } from "./check.js";
import type { CallOutcome } from "./joiner.js";
import { createLearner } from "./lessons.js";
import type { LessonGroup, Lessons } from "./lessons.js";
import type { LoggedEvent } from "./logged-call.js";
import type { RuleCover } from "./match-of.js";
import { readPolicyDocument } from "./policy-document.js";
import type { PolicyDocument } from "./policy-document.js";
import { propose } from "./propose.js";
import type { Proposal } from "./propose.js";
import { shapeText } from "./shape.js";
import type { CallShape } from "./shape.js";

/** Options of {@link suggestRules}. */
export interface SuggestOptions {
  /** The directory for `~` in the policy and in paths of the log, absolute. */
  readonly home?: string;
  /** The directory where relative paths in the policy start, absolute. */
  readonly cwd?: string;
  /** How many approvals make a rule that allows; 5 unless given, at least 2. */
  readonly min?: number;
  /**
   * Only approvals and denials from this time on count for a rule, in milliseconds since 1970; what
   * counts against a rule always does. All unless given.
   */
  readonly sinceMs?: number;
}

/** Where in the policy a suggested rule belongs. */
export interface RulePlace {
  /** Id of the rule that it goes before; absent: at the end of the list. */
  readonly before?: string;
  /** Line where that rule begins in the policy's text, from 1; absent where `before` is. */
  readonly line?: number;
}

/** A rule that would answer what people have always answered the same way. */
export interface RuleSuggestion {
  /** What the rule would do. */
  readonly effect: "allow" | "deny";
  /** The calls that the rule is about, in words. */
  readonly about: string;
  /** What its calls have in common. */
  readonly shape: CallShape;
  /** The rule as policy data. */
  readonly rule: JsonObject;
  /** The rule as YAML: an item of the list `rules`, indented like the others. */
  readonly yaml: string;
  /** Where in the policy it belongs. */
  readonly place: RulePlace;
  /** What it covers, argument by argument. */
  readonly covers: readonly RuleCover[];
  /** How many calls of the log it would have answered, by how they ended. */
  readonly answered: Readonly<Record<CallOutcome, number>>;
  /** Ids of the agents that made them; the rule is for every agent. */
  readonly agents: readonly string[];
  /** Wall time of the first answer that supports it, milliseconds since 1970. */
  readonly firstMs: number;
  /** Wall time of the last answer that supports it, milliseconds since 1970. */
  readonly lastMs: number;
}

/** Calls that were answered the same way often enough, and why no rule is suggested for them. */
export interface HeldBack {
  /** What a rule would have done. */
  readonly effect: "allow" | "deny";
  /** What the calls were about, in words. */
  readonly about: string;
  /** How often they were answered that way. */
  readonly count: number;
  /** Why no rule is suggested, in words. */
  readonly reason: string;
}

/** The result of {@link suggestRules}. */
export interface Suggestions {
  /** Suggested rules: denials first, then by how many questions each would have answered. */
  readonly suggestions: readonly RuleSuggestion[];
  /** What was answered the same way but is not suggested, with the reasons. */
  readonly heldBack: readonly HeldBack[];
  /** How many events the first reading gave. */
  readonly events: number;
  /** How many questions people answered. */
  readonly answered: number;
}

/** What of a history is needed; whatever else is there does no harm. */
export interface HistoryWanted {
  /** Whether calls that nobody was asked about may be left out. */
  readonly isAnswersOnly: boolean;
  /** Whether calls of the tool with this name may matter; all may, unless that is surely not so. */
  concerns(tool: string): boolean;
}

/**
 * Reads the events of the log from its start; it is called up to twice, and may leave out what is not
 * wanted. Return the events of each log in order, one log after another.
 */
export type ReadHistory = (
  wanted: HistoryWanted,
) => Iterable<LoggedEvent> | AsyncIterable<LoggedEvent>;

const MIN_DEFAULT = 5;
const MIN_LEAST = 2;
const DENIALS_MIN = 3;
const SUGGESTIONS_MAX = 100;
const HELD_BACK_MAX = 100;
/** Compiled rules that may be held at once: each suggestion is tried in a policy of its own. */
const TRIED_RULES_MAX = 50_000;

/**
 * Suggests rules that would answer what people have always answered the same way. Each is checked
 * against the whole log: it answers questions only, none that a person denied or edited, and does
 * not change what the policy decides by itself.
 *
 * @param policy - The policy in force, as YAML text.
 * @throws ConsentError `policy_invalid`; `options_invalid` for a `min` below 2; and whatever
 *   `history` throws.
 *
 * @example
 * ```ts
 * import { suggestRules } from "@acp/suggest";
 *
 * const { suggestions } = await suggestRules(() => events, policyText, { min: 5 });
 * for (const { about, yaml } of suggestions) console.log(about, yaml);
 * ```
 */
export async function suggestRules(
  history: ReadHistory,
  policy: string,
  options: SuggestOptions = {},
): Promise<Suggestions> {
  const { home, cwd, min = MIN_DEFAULT, sinceMs = Number.NEGATIVE_INFINITY } = options;
  if (!Number.isInteger(min) || min < MIN_LEAST)
    throw new ConsentError(
      "options_invalid",
      `Cannot suggest rules from ${min} approvals: at least ${MIN_LEAST} are needed`,
    );
  const document = readPolicyDocument(policy, {
    ...(home === undefined ? {} : { home }),
    ...(cwd === undefined ? {} : { cwd }),
  });
  const learner = createLearner(document);
  let events = 0;
  for await (const event of history({ isAnswersOnly: true, concerns: () => true })) {
    events++;
    learner.learn(event);
  }
  const lessons = learner.lessons();
  const { proposals, heldBack } = proposeAll(lessons, document, { min, sinceMs });
  const checked = proposals.length === 0 ? [] : await checkAll(history, proposals, document);
  const good = checked.filter((each) => each.problem === undefined && isWorthIt(each, min));
  const bad = checked.filter(({ problem }) => problem !== undefined);
  return {
    suggestions: good
      .toSorted(byWorth)
      .slice(0, SUGGESTIONS_MAX)
      .map((each) => toSuggestion(each, document)),
    heldBack: [...bad.map(toHeldBack), ...heldBack]
      .toSorted((a, b) => b.count - a.count)
      .slice(0, HELD_BACK_MAX),
    events,
    answered: lessons.answered,
  };
}

interface Found {
  readonly proposals: readonly Proposal[];
  readonly heldBack: readonly HeldBack[];
}

function proposeAll(
  lessons: Lessons,
  document: PolicyDocument,
  options: { readonly min: number; readonly sinceMs: number },
): Found {
  const proposals: Proposal[] = [];
  const heldBack: HeldBack[] = [];
  const ids = new Set(document.policy.rules.map(({ ruleId }) => ruleId));
  const most = Math.max(1, Math.floor(TRIED_RULES_MAX / (document.rules.length + 1)));
  for (const effect of ["deny", "allow"] as const) {
    const min = effect === "allow" ? options.min : DENIALS_MIN;
    const groups = lessons.groups.toSorted((a, b) => answersOf(b, effect) - answersOf(a, effect));
    for (const group of groups) {
      if (proposals.length >= Math.min(most, 2 * SUGGESTIONS_MAX)) break;
      const proposed = propose(group, { document, effect, min, sinceMs: options.sinceMs, ids });
      if ("proposals" in proposed) proposals.push(...proposed.proposals);
      else heldBack.push(...whyNot(group, { effect, min, problem: proposed.problem }));
    }
  }
  for (const [tool, count] of lessons.unreadable)
    if (count >= options.min)
      heldBack.push({
        effect: "allow",
        about: tool,
        count,
        reason: "the log does not hold its arguments as they were",
      });
  return { proposals, heldBack };
}

/** Why there is no rule for a group, where one could be expected. */
function whyNot(
  group: LessonGroup,
  {
    effect,
    min,
    problem,
  }: { readonly effect: "allow" | "deny"; readonly min: number; readonly problem: string },
): readonly HeldBack[] {
  const { shape, barred } = group;
  const about = shapeText(shape);
  if (effect === "allow") {
    const [bar] = [...barred].toSorted(([, a], [, b]) => b - a);
    if (bar !== undefined && bar[1] >= min)
      return [{ effect, about, count: bar[1], reason: BAR_TEXTS[bar[0]] }];
  }
  const count = answersOf(group, effect);
  return count < min || problem === "too few" ? [] : [{ effect, about, count, reason: problem }];
}

/** How often calls of a group were answered in the way of a rule. */
function answersOf({ lessons }: LessonGroup, effect: "allow" | "deny"): number {
  return lessons.reduce(
    (sum, { approvedAtMs, deniedAtMs }) =>
      sum + (effect === "allow" ? approvedAtMs : deniedAtMs).length,
    0,
  );
}

async function checkAll(
  history: ReadHistory,
  proposals: readonly Proposal[],
  document: PolicyDocument,
): Promise<readonly Checked[]> {
  const checker = createChecker(proposals, document);
  const concerns = toolsOf(proposals);
  for await (const event of history({ isAnswersOnly: false, concerns })) checker.check(event);
  return checker.results();
}

/** Which tools the rules could reach: those about hosts and programs may reach any. */
function toolsOf(proposals: readonly Proposal[]): HistoryWanted["concerns"] {
  const shapes = proposals.map(({ group }) => group.shape);
  const tools = new Set(
    shapes.flatMap((shape) => (shape.kind === "tool" ? reachKeyOf(shape.tool) : [])),
  );
  const isAny = shapes.some(({ kind }) => kind !== "tool");
  return (tool) => isAny || tools.has(reachKeyOf(tool));
}

const countFor = ({ proposal, answered }: Checked): number =>
  proposal.effect === "allow" ? answered.approved : answered.denied;

function isWorthIt(checked: Checked, min: number): boolean {
  return countFor(checked) >= (checked.proposal.effect === "allow" ? min : DENIALS_MIN);
}

function byWorth(a: Checked, b: Checked): number {
  if (a.proposal.effect !== b.proposal.effect) return a.proposal.effect === "deny" ? -1 : 1;
  return countFor(b) - countFor(a);
}

function toSuggestion(
  { proposal, answered, agents, firstMs, lastMs }: Checked,
  { policy }: PolicyDocument,
): RuleSuggestion {
  const { effect, group, rule, yaml, covers } = proposal;
  const next = group.askedBy === undefined ? undefined : policy.rules[group.askedBy];
  const place =
    next === undefined
      ? {}
      : { before: next.ruleId, ...(next.line === undefined ? {} : { line: next.line }) };
  return {
    effect,
    about: shapeText(group.shape),
    shape: group.shape,
    rule,
    yaml,
    place,
    covers,
    answered,
    agents,
    firstMs,
    lastMs,
  };
}

function toHeldBack(checked: Checked): HeldBack {
  const { proposal, problem } = checked;
  return {
    effect: proposal.effect,
    about: shapeText(proposal.group.shape),
    count: countFor(checked),
    reason: problem ?? "",
  };
}

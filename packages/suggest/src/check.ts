/**
 * Checking: each proposed rule in its place in the policy, held against every call of the log,
 * whoever decided it. What a person denied or edited must stay a question, what the policy decides
 * by itself must stay as it is, and what is counted is what is said. Pure.
 */
import { isToolAction } from "@acp/core";
import type { Action } from "@acp/core";
import { factsOf } from "./lessons.js";
import { createJoiner } from "./joiner.js";
import type { CallEnd, CallOutcome } from "./joiner.js";
import { leavesOf } from "./leaves.js";
import { loggedAction } from "./logged-call.js";
import type { LoggedEvent } from "./logged-call.js";
import { placeOf } from "./places.js";
import { sayOf } from "./policy-document.js";
import type { PolicyDocument } from "./policy-document.js";
import type { Proposal } from "./propose.js";
import { reachOf, reachOfEvent } from "./shape.js";

/** What the log says of a proposal. */
export interface Checked {
  readonly proposal: Proposal;
  /** Calls that the rule would have answered, by how they ended. */
  readonly answered: Readonly<Record<CallOutcome, number>>;
  /**
   * When the first and the last of the answers were given that speak for it; 0 where there were
   * none.
   */
  readonly firstMs: number;
  readonly lastMs: number;
  /** Who made them, a few. */
  readonly agents: readonly string[];
  /** Why it must not be suggested; left out where nothing speaks against it. */
  readonly problem?: string;
}

/** Checks proposals, event by event. */
export interface Checker {
  readonly check: (event: LoggedEvent) => void;
  readonly results: () => readonly Checked[];
}

const AGENTS_MAX = 8;
/** What speaks for a rule. */
const SUPPORT = { allow: "approved", deny: "denied" } as const satisfies Record<
  Proposal["effect"],
  CallOutcome
>;
const NOTHING_ANSWERED: Readonly<Record<CallOutcome, number>> = {
  approved: 0,
  edited: 0,
  denied: 0,
  unanswered: 0,
  granted: 0,
  unasked: 0,
};

interface Trial {
  readonly proposal: Proposal;
  readonly answered: Record<CallOutcome, number>;
  readonly agents: Set<string>;
  firstMs: number;
  lastMs: number;
  problem: string | undefined;
}

/** What is kept of a call: the trials whose rule covers it, and those of which nobody can tell. */
interface Touched {
  readonly agent: string;
  readonly covered: readonly Trial[];
  readonly unsure: readonly Trial[];
}

/** Makes a checker. */
export function createChecker(proposals: readonly Proposal[], document: PolicyDocument): Checker {
  const trials = proposals.map(
    (proposal): Trial => ({
      proposal,
      answered: { ...NOTHING_ANSWERED },
      agents: new Set(),
      firstMs: 0,
      lastMs: 0,
      problem: undefined,
    }),
  );
  const byReach = new Map<string, Trial[]>();
  for (const trial of trials) {
    const reach = reachOf(trial.proposal.group.shape);
    byReach.set(reach, [...(byReach.get(reach) ?? []), trial]);
  }
  const check = createJoiner<Touched | undefined>({
    begin(event) {
      const near = byReach.get(reachOfEvent(event));
      return near === undefined ? undefined : touch(near, event, document);
    },
    end(touched, end) {
      if (touched === undefined) return;
      for (const trial of touched.covered) hear(trial, touched.agent, end);
      for (const trial of touched.unsure)
        if (end !== undefined && isAgainst(trial, end))
          trial.problem ??= "an answered call cannot be compared with it";
    },
  });
  return {
    check,
    results: () =>
      trials.map(({ agents, problem, ...trial }) => ({
        ...trial,
        agents: [...agents],
        ...(problem === undefined ? {} : { problem }),
      })),
  };
}

/** Which rules would have answered the call. */
function touch(
  near: readonly Trial[],
  event: LoggedEvent,
  { policy, origins }: PolicyDocument,
): Touched | undefined {
  const action = loggedAction(event);
  if (action === undefined) return { agent: event.agent, covered: [], unsure: near };
  const facts = factsOf(event);
  const before = sayOf(policy, action, facts);
  const covered: Trial[] = [];
  const unsure: Trial[] = [];
  for (const trial of near) {
    const { proposal } = trial;
    const after = sayOf(proposal.policy, action, facts);
    const isCovered = after.ruling?.ruleId === proposal.rule["id"];
    if (isCovered) {
      covered.push(trial);
      if (before.effect !== "ask" || after.effect !== proposal.effect)
        trial.problem ??= "it would change what the policy decides by itself";
    } else if (after.effect !== before.effect)
      trial.problem ??= "it would change what other rules say";
    else if (proposal.relative.some((path) => !isRelativeAt(action, path, origins)))
      unsure.push(trial);
  }
  return covered.length + unsure.length === 0 ? undefined : { agent: event.agent, covered, unsure };
}

/**
 * Whether every text that an argument holds is a path from the working directory: that of the gate,
 * which the log does not name.
 */
function isRelativeAt(
  action: Action,
  path: readonly string[],
  origins: PolicyDocument["origins"],
): boolean {
  const leaves = isToolAction(action) ? (leavesOf([action.args]) ?? []) : [];
  const values = leaves.find((leaf) => leaf.path.join(".") === path.join("."))?.values ?? [];
  return values.every(
    (value) => typeof value !== "string" || placeOf(value, origins)?.base === ".",
  );
}

function hear(trial: Trial, agent: string, end: CallEnd | undefined): void {
  if (end === undefined) return;
  trial.answered[end.outcome]++;
  if (trial.agents.size < AGENTS_MAX) trial.agents.add(agent);
  if (end.outcome === SUPPORT[trial.proposal.effect]) {
    // Of several logs a later one may hold the earlier answer.
    trial.firstMs = trial.firstMs === 0 ? end.atMs : Math.min(trial.firstMs, end.atMs);
    trial.lastMs = Math.max(trial.lastMs, end.atMs);
  }
  if (isAgainst(trial, end))
    trial.problem ??=
      trial.proposal.effect === "allow"
        ? "you denied or edited a call that it would cover"
        : "you approved a call that it would cover";
}

/**
 * Whether the end of a call speaks against a rule that covers it. An earlier consent is an
 * approval, too.
 */
function isAgainst({ proposal }: Trial, { outcome }: CallEnd): boolean {
  if (proposal.effect === "allow") return outcome === "denied" || outcome === "edited";
  return outcome === "approved" || outcome === "edited" || outcome === "granted";
}

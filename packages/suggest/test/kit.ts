/**
 * What the tests of suggestions share: logs as a real gate writes them, of calls that a script
 * answers.
 */
import { manualClock, scriptedChannel, seededIds } from "@acp/testing";
import type { ScriptedAnswer } from "@acp/testing";
import { actionDigest, createConsentGate, parametersOf, toolAction } from "@acp/core";
import type { Action, AuditEventInput, GateOptions } from "@acp/core";
import { readPolicy } from "@acp/core/yaml";
import { suggestRules } from "../src/index.js";
import type {
  HistoryWanted,
  LoggedEvent,
  ReadHistory,
  RuleSuggestion,
  SuggestOptions,
  Suggestions,
} from "../src/index.js";

export const origins: { readonly home: string; readonly cwd: string } = {
  home: "/home/ada",
  cwd: "/work",
};
export const ASK_ALL = `version: "1"\ndefault: ask\n`;
export const HOUR_MS = 3_600_000;
export const START_MS: number = Date.UTC(2026, 0, 5, 12);

/** How a call went. */
export interface Past {
  readonly action: Action;
  readonly answer: "approved" | "denied" | "approved_with_modifications" | "expired";
}

/** The events of a call as a gate writes them, without one: for many calls, or arbitrary ones. */
export function eventsOf({ action, answer }: Past, index: number): readonly LoggedEvent[] {
  const { tool, server, parameters } = parametersOf(action);
  const base = {
    atMs: START_MS + index * HOUR_MS,
    agent: "agent",
    tool,
    riskLevel: "medium",
    requestId: "",
    decision: "",
  };
  const call = `c${index}`;
  const requestId = `cr_${index}`;
  const type = {
    approved: "approved",
    denied: "denied",
    approved_with_modifications: "approved",
    expired: "expired",
  }[answer];
  const metadata = {
    call,
    kind: action.meta.kind,
    server,
    parameters,
    action_digest: actionDigest(action),
  };
  return [
    { ...base, eventType: "tool_call_intercepted", metadata },
    { ...base, eventType: "policy_evaluated", decision: "ask", metadata: { call } },
    {
      ...base,
      eventType: "consent_requested",
      decision: "ask",
      requestId,
      metadata: { call, quorum: 1 },
    },
    { ...base, eventType: `consent_${type}`, decision: answer, requestId, metadata: {} },
  ];
}

/** One call and what the person does. */
export interface Step {
  readonly action: Action;
  readonly answer?: ScriptedAnswer;
  readonly agent?: string;
  /** Since the call before; an hour unless given. */
  readonly afterMs?: number;
}

/** Steps of one tool, all answered alike. */
export const calls = (
  answer: ScriptedAnswer,
  tool: string,
  list: readonly object[],
  server = "files",
): readonly Step[] => list.map((args) => ({ action: toolAction(server, tool, args), answer }));

export const writes = (answer: ScriptedAnswer, paths: readonly string[]): readonly Step[] =>
  calls(
    answer,
    "write_file",
    paths.map((path, index) => ({ path, content: `text ${index}` })),
  );

/** The log of a gate that judged the steps, one after another. */
export async function logOf(
  steps: readonly Step[],
  {
    policy = ASK_ALL,
    ...options
  }: Partial<Omit<GateOptions, "policy">> & { readonly policy?: string } = {},
): Promise<readonly AuditEventInput[]> {
  const events: AuditEventInput[] = [];
  const clock = manualClock(Date.UTC(2026, 0, 5, 9));
  const audit = {
    append: (more: readonly AuditEventInput[]) => {
      events.push(...more);
      return Promise.resolve({ seq: events.length - 1, hash: "sha256:0" });
    },
  };
  const channel = scriptedChannel(
    steps.map(({ answer = "approve" }) => answer),
    { clock },
  );
  await using gate = createConsentGate({
    policy: readPolicy(policy, origins),
    channel,
    audit,
    clock,
    ids: seededIds(),
    ...options,
  });
  for (const { action, agent = "coder", afterMs = HOUR_MS } of steps) {
    clock.jump(afterMs);
    const verdict = gate(action, { agent: { id: agent } });
    await clock.advance(0);
    await clock.advance(200_000); // what nobody answered is over by then
    await verdict;
  }
  return events;
}

/** What the steps suggest. */
export async function suggest(
  steps: readonly Step[] | readonly LoggedEvent[],
  { policy = ASK_ALL, ...options }: SuggestOptions & { readonly policy?: string } = {},
): Promise<Suggestions> {
  const isLog = (list: readonly object[]): list is readonly LoggedEvent[] =>
    list.every((each) => "eventType" in each);
  const events = isLog(steps) ? steps : await logOf(steps, { policy });
  const found = await suggestRules(() => events, policy, { ...origins, ...options });
  const history: ReadHistory = (wanted) => leastOf(events, wanted);
  const least = await suggestRules(history, policy, { ...origins, ...options });
  // What is not wanted changes nothing, but for how much was read.
  if (JSON.stringify({ ...least, events: found.events }) !== JSON.stringify(found))
    throw new Error("a history without what is not wanted gives other suggestions");
  return found;
}

/** Without everything that may be left out. */
function leastOf(
  events: readonly LoggedEvent[],
  { isAnswersOnly, concerns }: HistoryWanted,
): readonly LoggedEvent[] {
  const near = events.filter(({ tool, requestId }) => requestId !== "" || concerns(tool));
  if (!isAnswersOnly) return near;
  const callOf = ({ metadata }: LoggedEvent): unknown => metadata["call"];
  const asked = new Set(
    near.filter(({ eventType }) => eventType === "consent_requested").map(callOf),
  );
  return near.filter(
    (event) =>
      event.eventType.startsWith("consent_") ||
      (event.eventType === "tool_call_intercepted" && asked.has(callOf(event))),
  );
}

export const matchesOf = ({ suggestions }: Suggestions): readonly unknown[] =>
  suggestions.map(({ rule }) => rule["match"]);
export const allowed = ({ suggestions }: Suggestions): readonly RuleSuggestion[] =>
  suggestions.filter(({ effect }) => effect === "allow");

/** Why nothing is suggested, in one line each. */
export async function reasonsOf(...given: Parameters<typeof suggest>): Promise<readonly string[]> {
  const { suggestions, heldBack } = await suggest(...given);
  if (suggestions.length > 0)
    throw new Error(`suggested: ${suggestions.map(({ yaml }) => yaml).join("")}`);
  return heldBack.map(
    ({ effect, about, count, reason }) => `${effect} ${about} ${count}: ${reason}`,
  );
}

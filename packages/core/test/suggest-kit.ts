/** What the tests of suggestions share: logs as a real gate writes them, of calls that a script answers. */
import { manualClock, scriptedChannel, seededIds } from "@acp/testing";
import type { ScriptedAnswer } from "@acp/testing";
import { createConsentGate, toolAction } from "../src/index.js";
import type { Action, AuditEventInput, GateOptions } from "../src/index.js";
import { suggestRules } from "../src/suggest.js";
import type { LoggedEvent, RuleSuggestion, SuggestOptions, Suggestions } from "../src/suggest.js";
import { readPolicy } from "../src/yaml.js";

export const origins: { readonly home: string; readonly cwd: string } = { home: "/home/ada", cwd: "/work" };
export const ASK_ALL = `version: "1"\ndefault: ask\n`;
export const HOUR_MS = 3_600_000;

/** One call and what the person does. */
export interface Step {
  readonly action: Action;
  readonly answer?: ScriptedAnswer;
  readonly agent?: string;
  /** Since the call before; an hour unless given. */
  readonly afterMs?: number;
}

/** Steps of one tool, all answered alike. */
export const calls = (answer: ScriptedAnswer, tool: string, list: readonly object[], server = "files"): readonly Step[] =>
  list.map((args) => ({ action: toolAction(server, tool, args), answer }));

export const writes = (answer: ScriptedAnswer, paths: readonly string[]): readonly Step[] =>
  calls(
    answer,
    "write_file",
    paths.map((path, index) => ({ path, content: `text ${index}` })),
  );

/** The log of a gate that judged the steps, one after another. */
export async function logOf(
  steps: readonly Step[],
  { policy = ASK_ALL, ...options }: Partial<Omit<GateOptions, "policy">> & { readonly policy?: string } = {},
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
  await using gate = createConsentGate({ policy: readPolicy(policy, origins), channel, audit, clock, ids: seededIds(), ...options });
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
  const isLog = (list: readonly object[]): list is readonly LoggedEvent[] => list.every((each) => "eventType" in each);
  const events = isLog(steps) ? steps : await logOf(steps, { policy });
  return suggestRules(() => events, policy, { ...origins, ...options });
}

export const matchesOf = ({ suggestions }: Suggestions): readonly unknown[] => suggestions.map(({ rule }) => rule["match"]);
export const allowed = ({ suggestions }: Suggestions): readonly RuleSuggestion[] => suggestions.filter(({ effect }) => effect === "allow");

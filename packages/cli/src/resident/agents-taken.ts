/**
 * Agents taken: what the agents of one client have of its budget. Most clients have one; one that
 * serves agents over HTTP has many, and none of them can use up what the others need.
 */
import type { Limits } from "./limits.js";

/** What is under way. */
export interface Counts {
  questions: number;
  requests: number;
  calls: number;
  bytes: number;
}

/** What of a budget each agent may have. */
export type Measured = "questions" | "calls" | "bytes" | "logBytes";

/** What all agents have, and each of them. */
export interface AgentsTaken {
  readonly total: Readonly<Counts>;
  of(agent: string): Readonly<Counts>;
  add(agent: string, what: keyof Counts, by: number): void;
  /** Each agent that has something. */
  readonly all: () => Iterable<readonly [string, Readonly<Counts>]>;
}

const NOTHING: Readonly<Counts> = { questions: 0, requests: 0, calls: 0, bytes: 0 };

/** Nobody has anything. */
export function createAgentsTaken(): AgentsTaken {
  const total = { ...NOTHING };
  const agents = new Map<string, Counts>();
  return {
    total,
    of: (agent) => agents.get(agent) ?? NOTHING,
    add(agent, what, by) {
      const own = agents.get(agent) ?? { ...NOTHING };
      agents.set(agent, own);
      own[what] += by;
      total[what] += by;
      if (Object.values(own).every((count) => count === 0)) agents.delete(agent);
    },
    all: () => agents,
  };
}

/** What an agent wants to have, beside what there is. */
export interface Wanted {
  readonly what: Measured;
  /** What it has. */
  readonly own: number;
  /** What all agents of its client have. */
  readonly total: number;
  readonly more: number;
}

/**
 * Whether an agent may have more: as much as one may have, and no more than is left for all others of
 * its client.
 */
export function whyNotMore(
  limits: Limits,
  { what, own, total, more }: Wanted,
): "own" | "others" | undefined {
  const max = limits[what];
  if (own + more > max) return "own";
  return own + more > limits.agentsFull * max - total ? "others" : undefined;
}

const UNITS = { questions: "open questions", calls: "calls under way" } as const;

/** What an agent wants to have. */
export interface AgentWants {
  readonly agent: string;
  readonly what: Exclude<Measured, "logBytes">;
  readonly more: number;
}

/** Why an agent gets no more, in one sentence without a period; `undefined` where it does. */
export function whyFull(
  limits: Limits,
  taken: AgentsTaken,
  { agent, what, more }: AgentWants,
): string | undefined {
  const total = taken.total[what];
  const why = whyNotMore(limits, { what, own: taken.of(agent)[what], total, more });
  if (why === undefined) return undefined;
  const [whose, count] =
    why === "own"
      ? ["this client has", limits[what]]
      : ["the agents of this client together have", total];
  return what === "bytes"
    ? `${whose} ${count} bytes of requests under way`
    : `${whose} ${count} ${UNITS[what]}`;
}

/**
 * Takes out of a measure what flows out of it within so many minutes: of each agent what it may have,
 * and of all of them together no more than they may have together.
 */
export function flowOut(
  logged: Map<string, number>,
  { logBytes, agentsFull }: Pick<Limits, "logBytes" | "agentsFull">,
  minutes: number,
): void {
  let left = minutes * logBytes * agentsFull;
  let agents = logged.size;
  // What an agent with little does not need is the others'.
  const all = agents > agentsFull ? [...logged].sort(([, a], [, b]) => a - b) : [...logged];
  for (const [agent, bytes] of all) {
    const out = Math.min(bytes, minutes * logBytes, left / agents--);
    left -= out;
    if (out < bytes) logged.set(agent, bytes - out);
    else logged.delete(agent);
  }
}

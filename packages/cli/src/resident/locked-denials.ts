/**
 * Locked denials: how many calls were denied while the key was locked, or the index of the logs was
 * made. No log is open then; the one that opens afterwards says it in one line, however many there
 * were. In
 * memory only: nothing of it is an event of a call.
 */
import { isoTime, quoteText } from "@acp/core";

/** Counts denials. */
export interface LockedDenials {
  /** One more call of an agent. */
  count(agentId: string): void;
  /** What is to be said of them, after which they are forgotten; `undefined` where there are none. */
  take(): string | undefined;
}

/** Agents that are named; what further ones ask is counted together. */
const AGENTS_MAX = 16;
const AGENT_CHARS_MAX = 64;

/**
 * None yet.
 *
 * @param during - What they were denied during, as the beginning of a sentence.
 * @param nowMs - Milliseconds since 1970.
 */
export function createLockedDenials(during: string, nowMs: () => number = Date.now): LockedDenials {
  const agents = new Map<string, number>();
  let [firstMs, lastMs, others] = [0, 0, 0];
  return {
    count(id) {
      const agentId = id.slice(0, AGENT_CHARS_MAX);
      lastMs = nowMs();
      if (agents.size === 0) firstMs = lastMs;
      const before = agents.get(agentId);
      if (before === undefined && agents.size >= AGENTS_MAX) others++;
      else agents.set(agentId, (before ?? 0) + 1);
    },
    take() {
      if (agents.size === 0) return undefined;
      const named = [...agents].map(([agent, count]) => `${quoteText(agent)} ${count}`);
      const all = [...named, ...(others === 0 ? [] : [`other agents ${others}`])].join(", ");
      agents.clear();
      others = 0;
      return `${during}, calls were denied from ${isoTime(firstMs)} to ${isoTime(lastMs)}: ${all}`;
    },
  };
}

/**
 * Ask ahead: agents give up after some seconds while their first connection waits for a person, and
 * each retry would be a new question. What is sure to be asked is asked before the agent starts,
 * and its first connection collects the yes.
 */
import { actionDigest } from "@acp/core";
import type { Agent, Allowed, ConsentGate, HttpAction } from "@acp/core";
import { someoneAttached } from "./someone-attached.js";

/** What is asked. */
export interface AskAheadParts {
  readonly agent: Agent;
  readonly tunnels: readonly HttpAction[];
  readonly signal: AbortSignal;
  /** How many can answer; `undefined` where questions go another way. */
  readonly attached: () => number | undefined;
  /** Takes a line for the person who started the agent. */
  readonly say: (line: string) => void;
}

/** A gate that may have been asked before. */
export interface AskedGate extends Pick<ConsentGate, "run"> {
  /**
   * Asks about the tunnels that a person has to decide. What was denied is asked again when the
   * agent comes to it.
   */
  ask(parts: AskAheadParts): Promise<void>;
}

/** Makes it. Each yes serves the first request that it was given for, and no other. */
export function createAskedGate(gate: ConsentGate): AskedGate {
  const held = new Map<string, Allowed>();
  return {
    async ask({ agent, tunnels, signal, attached, say }) {
      const open = tunnels.filter(
        (action) => gate.evaluate(action, { agent }).ruling.effect === "ask",
      );
      for (const { meta } of open)
        say(
          `Asking once for ${meta.host}, which the command's model needs; let your approval cover the host`,
        );
      if (open.length > 0) await someoneAttached(attached, signal);
      await Promise.all(
        open.map(async (action) => {
          const verdict = await gate(action, { agent, signal });
          if (verdict.decision === "allow") held.set(actionDigest(action), verdict);
          else say(`No tunnel to ${action.meta.host} yet: ${verdict.reason}`);
        }),
      );
      signal.throwIfAborted();
    },
    async run(action, perform, context) {
      const digest =
        held.size === 0 || context.obstacle !== undefined ? undefined : actionDigest(action);
      const yes = digest === undefined ? undefined : held.get(digest);
      if (digest === undefined || yes === undefined) return gate.run(action, perform, context);
      held.delete(digest);
      const result = await gate.perform(yes, perform, { signal: context.signal });
      // Out of time, or the agent is paused: it is judged as if nobody had been asked.
      return result.ran ? result : gate.run(action, perform, context);
    },
  };
}

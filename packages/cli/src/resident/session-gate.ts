/**
 * Session gate: a gate for the requests of programs, which have no ids of their own. Each takes a
 * place of what its client may have under way, and gets an id of the client's, so that what a dead
 * resident left open goes to whoever asked.
 */
import { DENY_CODES } from "@acp/core";
import type { ConsentGate } from "@acp/core";
import type { RequestRoom } from "@acp/proxy-mcp";
import type { ClientCalls } from "./calls.js";

/** Whose requests they are. */
export interface SessionGateParts {
  /** The room of an agent. */
  roomOf(agentId: string): RequestRoom;
  /** Undefined where the client gives its calls no ids. */
  readonly calls: Pick<ClientCalls, "make"> | undefined;
}

/** The same gate for one session. */
export function sessionGate(gate: ConsentGate, { roomOf, calls }: SessionGateParts): ConsentGate {
  const run: ConsentGate["run"] = async (action, perform, context) => {
    const place = roomOf(context.agent.id).enter({ bytes: 0, isCall: true });
    if ("full" in place) {
      const code = "client_limit_reached";
      const verdict = { decision: "deny", code, reason: place.full, ...DENY_CODES[code] } as const;
      return { ran: false, verdict };
    }
    try {
      return await gate.run(action, perform, { ...context, call: calls?.make() });
    } finally {
      place.leave();
    }
  };
  return Object.assign((...call: Parameters<ConsentGate>) => gate(...call), gate, { run });
}

/**
 * Caller: who makes a request, and whose gate judges it. Types only.
 */
import type { Agent, ConsentGate } from "@acp/core";

/** Who makes a request: known from its credentials, or from the socket before it sent anything. */
export interface Caller {
  /** The agent as whom its requests are judged. */
  readonly agent: Agent;
  /** The session that its requests belong to, if there is one. */
  readonly session?: string;
  /** Its own gate, if it has a policy of its own. Absent: the proxy's gate. */
  readonly gate?: ConsentGate;
}

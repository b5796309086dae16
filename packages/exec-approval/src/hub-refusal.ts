/** Refusals of the hub itself: what never reached the gate, or came back from it. */
import { DENY_CODES, type DenyCode, type Denied } from "@acp/core";

/** A no with a remedy of its own. */
export function refuse(code: DenyCode, reason: string, remedy: string = DENY_CODES[code].remedy): Denied {
  return Object.freeze({ decision: "deny", code, reason, remedy, retryable: DENY_CODES[code].retryable });
}

/** What an agent is told about a command that does not run: why, and what it can do. */
export function denialMessage({ code, reason, remedy }: Denied): string {
  return `The command was not run (${code}): ${reason}. ${remedy}.`;
}

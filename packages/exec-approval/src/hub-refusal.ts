/** Refusals of the hub itself: what never reached the gate, or came back from it. */
import {
  type ConsentGate,
  DENY_CODES,
  type DenyCode,
  type Denied,
  type GateContext,
  shellAction,
} from "@acp/core";

/** A no with a remedy of its own. */
export function refuse(
  code: DenyCode,
  reason: string,
  remedy: string = DENY_CODES[code].remedy,
): Denied {
  return Object.freeze({
    decision: "deny",
    code,
    reason,
    remedy,
    retryable: DENY_CODES[code].retryable,
  });
}

/** A text for the agent about a command that does not run: the code, why, and what it can do. */
export function denialMessage({ code, reason, remedy }: Denied): string {
  return `The command was not run (${code}): ${reason}. ${remedy}.`;
}

/**
 * Puts a refusal of the hub into the log: the gate judges the command as ever, asks nobody, and
 * what a rule would allow is recorded as failed. A text that is no command is no action, and has no
 * event. Never rejects: the refusal stands whatever becomes of its record.
 */
export async function recordRefusal(
  gate: ConsentGate,
  { reason }: Denied,
  { command, context }: { readonly command: string; readonly context: GateContext },
): Promise<void> {
  try {
    const verdict = await gate(shellAction(command), { ...context, obstacle: reason });
    if (verdict.decision === "allow")
      await gate.perform(verdict, () => Promise.reject(new Error(reason)));
  } catch {
    // Nothing runs either way.
  }
}

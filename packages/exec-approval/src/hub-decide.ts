/**
 * HubDecide: one command from its question to its verdict. A question about which nobody answered
 * ends `expired`; what `askFallback` says is judged anew, by a gate that asks nobody, and recorded
 * as a decision of its own.
 */
import type { Action, ConsentGate, Denied, GateContext, Pending, Verdict } from "@acp/core";
import { refuse } from "./hub-refusal.js";

/** A call under decision. */
export interface Call {
  readonly agentId: string;
  /** Why it was taken back, where it was. */
  cancelled?: string;
  pending?: Pending;
}

/** What deciding needs. */
export interface DecideParts {
  readonly gate: ConsentGate;
  /** The gate that asks nobody; `undefined` where silence means no. */
  readonly fallbackGate: () => ConsentGate | undefined;
  /** What a call waits for besides its question, by question. */
  readonly settling: ReadonlyMap<string, Promise<unknown>>;
}

const cancelled = (why: string): Denied => refuse("consent_cancelled", why);

/** What silence means. */
async function judgeAnew(
  parts: DecideParts,
  expired: Denied,
  anew: { readonly action: Action; readonly context: GateContext },
): Promise<Verdict> {
  const gate = parts.fallbackGate();
  if (gate === undefined) return expired;
  const verdict = await gate(anew.action, anew.context);
  // The agent hears that nobody answered, whatever the second judgement's own code is.
  return verdict.decision === "allow"
    ? verdict
    : Object.freeze({ ...expired, reason: verdict.reason });
}

/** Decides a call. Never rejects. */
export async function decideCommand(
  parts: DecideParts,
  call: Call,
  { action, context }: { readonly action: Action; readonly context: GateContext },
): Promise<Verdict> {
  const opened = await parts.gate.open(action, context);
  let verdict: Verdict;
  if (opened.decision === "pending") {
    call.pending = opened;
    // Taken back while it was being opened.
    if (call.cancelled !== undefined) void opened.withdraw(call.cancelled);
    verdict = await opened.settled;
    await parts.settling.get(opened.requestId);
    if (verdict.decision === "deny" && verdict.code === "consent_expired")
      verdict = await judgeAnew(parts, verdict, { action, context });
  } else {
    verdict = opened;
  }
  return verdict.decision === "allow" && call.cancelled !== undefined
    ? cancelled(call.cancelled)
    : verdict;
}

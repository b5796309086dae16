/**
 * Ask: puts a command before a person and waits no longer than the agent does. Silence is a no: an
 * agent that kills its hook runs the command.
 */
import { setTimeout as wait } from "node:timers/promises";
import { isConsentError, isShellAction, redeem } from "@acp/core";
import type { Action, Allowed, ShellAction, Verdict } from "@acp/core";
import type { HookDesk, Report } from "./desk.js";
import type { HookGate, HookTerms } from "./gate.js";

/** A command that a person decides about. */
export interface HookQuestion {
  readonly agent: string;
  readonly session?: string;
  readonly action: ShellAction;
  readonly terms: HookTerms;
  /** How long the hook may wait. */
  readonly waitMs: number;
  /** Aborts when the agent no longer waits. */
  readonly signal: AbortSignal;
}

/** What came of it. */
export interface HookAnswered {
  readonly effect: "allow" | "deny";
  readonly reason: string;
  /** What a person wrote instead of the command. */
  readonly edited?: string;
  /** Takes the agent's word for what became of it. */
  readonly report?: Report;
}

/** Asks, and waits. Never rejects: whoever cannot be asked has not said yes. */
export async function askPerson(desk: HookDesk, question: HookQuestion): Promise<HookAnswered> {
  const untilMs = performance.now() + question.waitMs;
  try {
    const gate = await desk.gate();
    await gate.attended();
    return await settle(gate, question, untilMs);
  } catch (error) {
    const why = isConsentError(error) ? `${error.message} [${error.code}]` : String(error);
    return { effect: "deny", reason: `nobody can be asked: ${why}` };
  }
}

async function settle(
  hook: HookGate,
  question: HookQuestion,
  untilMs: number,
): Promise<HookAnswered> {
  const { agent, session, action, terms, signal } = question;
  const opened = await hook.gate.open(action, {
    agent: { id: agent },
    task: hook.taskOf(terms),
    session,
    signal,
  });
  if (opened.decision !== "pending") return heed(hook, opened);
  const stop = new AbortController();
  const late = wait(Math.max(0, untilMs - performance.now()), undefined, {
    signal: stop.signal,
  }).catch(() => undefined);
  const first = await Promise.race([opened.settled, late]);
  stop.abort();
  if (first !== undefined) return heed(hook, first);
  // The question stays open, and its answer is kept for the same command of the same agent.
  if (!(await opened.defer())) return heed(hook, await opened.settled);
  return {
    effect: "deny",
    reason:
      "nobody has answered yet, and the question stays open: run the same command again to keep waiting",
  };
}

/** What the gate said, once the log knows that it is handed on. */
async function heed({ gate }: HookGate, verdict: Verdict): Promise<HookAnswered> {
  if (verdict.decision === "deny")
    return { effect: "deny", reason: `${verdict.reason}; ${verdict.remedy} [${verdict.code}]` };
  const { action } = redeem(verdict.permit, verdict.action);
  await gate.report(verdict, { status: "forwarded" });
  return {
    effect: "allow",
    reason: verdict.reason,
    ...editOf(verdict, action),
    report: (outcome) => gate.report(verdict, outcome),
  };
}

function editOf({ code }: Allowed, action: Action): Pick<HookAnswered, "edited"> {
  return code === "consent_modified" && isShellAction(action) ? { edited: action.args } : {};
}

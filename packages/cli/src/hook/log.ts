/**
 * What a hook leaves in the home's log: each decision before the agent hears of it, what could not
 * be judged, and the outcome where the agent's protocol tells it. No permit stands behind them: the
 * log has the agent's word, and says so. What a gate asked a person about, the gate itself writes
 * down.
 */
import { actionDigest, logEvent, parametersOf, randomIds, systemClock } from "@acp/core";
import type {
  AuditEventInput,
  AuditEventType,
  AuditSink,
  JsonObject,
  Outcome,
  Ruling,
  ShellAction,
} from "@acp/core";

/** A command of a hook's event, and whose it is. */
export interface HookedCommand {
  readonly agent: string;
  readonly action: ShellAction;
  /** What names the session and the call in the agent's own words. */
  readonly names: JsonObject;
}

/** Makes the events of one command; they share the id of the first. */
function eventsOf(
  { agent, action, names }: HookedCommand,
  { policyRule, riskLevel }: Pick<AuditEventInput, "policyRule" | "riskLevel">,
) {
  const { tool, server, parameters } = parametersOf(action);
  const call = randomIds.next("ae");
  let isFirst = true;
  const make = (
    eventType: AuditEventType,
    decision: string,
    metadata: JsonObject,
  ): AuditEventInput => {
    const id = isFirst ? call : randomIds.next("ae");
    isFirst = false;
    return {
      id,
      atMs: systemClock.now(),
      eventType,
      requestId: "",
      agent,
      tool,
      category: "system",
      riskLevel,
      decision,
      responseTimeMs: 0,
      policyRule,
      metadata: { call, isolation: "none", hook: agent, ...names, ...metadata },
    };
  };
  return {
    make,
    shown: { kind: action.meta.kind, server, parameters, action_digest: actionDigest(action) },
  };
}

/** What was decided about a command, and how the agent hears it. */
export interface SaidDecision {
  readonly ruling: Ruling;
  /** In the agent's words: where it cannot ask a person, "ask" becomes something else. */
  readonly answer: JsonObject;
  /** The text that runs instead of the one that was asked for. */
  readonly rewrite?: { readonly command: string; readonly reason: string };
}

/**
 * Writes down what the agent is about to be told.
 *
 * @throws ConsentError what a home throws that does not load, `audit_failed`, `audit_busy`: then
 *   nothing may go on.
 */
export async function logDecision(
  log: AuditSink,
  command: HookedCommand,
  { ruling, answer, rewrite }: SaidDecision,
): Promise<void> {
  const { make, shown } = eventsOf(command, {
    policyRule: ruling.ruleId,
    riskLevel: ruling.level ?? "",
  });
  await log.append([
    make("tool_call_intercepted", "", shown),
    make("policy_evaluated", ruling.effect, {
      layer: "exec",
      reason: ruling.reason,
      rulings: [{ layer: "exec", effect: ruling.effect, rule: ruling.ruleId }],
      ...(rewrite === undefined
        ? {}
        : { rewrite: { command: rewrite.command, reason: rewrite.reason } }),
      answer,
    }),
  ]);
}

/**
 * Writes down what the agent says that became of a command.
 *
 * @throws As {@link logDecision}.
 */
export async function logOutcome(
  log: AuditSink,
  command: HookedCommand,
  { status, ...kind }: Outcome,
): Promise<void> {
  const { make, shown } = eventsOf(command, { policyRule: "", riskLevel: "" });
  const { seq } = await log.append([
    make("tool_call_forwarded", "allow", { ...shown, reported: true }),
  ]);
  await log.append([
    make("tool_call_completed", "allow", {
      outcome: status,
      ...kind,
      reported: true,
      forwarded_seq: seq,
    }),
  ]);
}

/**
 * Writes down that an event was blocked because it could not be judged. Never rejects: it is
 * blocked all the same.
 */
export async function logBlocked(log: AuditSink, agent: string, why: string): Promise<void> {
  const event = logEvent(
    "gate_notice",
    { id: randomIds.next("ae"), atMs: systemClock.now() },
    { notice: "hook_blocked", text: why, hook: agent },
  );
  await log.append([event]).catch(() => undefined);
}

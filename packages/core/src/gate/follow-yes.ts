/**
 * Outcomes: follows a yes from the permit that it became to what came of it, and tells the
 * question's record, the log and the channels.
 */
import { advanceQuestion } from "./advance-question.js";
import { claimDecision } from "./claim-decision.js";
import { isApproved, type PendingRecord } from "../approval/pending-record.js";
import { makeConsentOutcome, type ConsentOutcome } from "../approval/consent-outcome.js";
import type { JsonObject } from "../json/value.js";
import {
  COLLECT_WAIT_MS,
  OUTCOME_WAIT_MS_MAX,
  PART_TIMEOUT_MS,
  PERMIT_TTL_MS,
  REPORT_WAIT_MS,
} from "../limits.js";
import { IGNORED } from "./ignored.js";
import { decisionLeftMs } from "./kept-time.js";
import { isSpent } from "../permit.js";
import type {
  KeptParts,
  LogParts,
  OpenParts,
  PermitParts,
  QuestionParts,
  Settlement,
  Yes,
} from "./gate-parts.js";
import type { AuditEventType } from "../types/audit-event.js";
import type { Permit } from "../types/permit.js";
import { appendEvent } from "./record.js";

type StoryEnd = readonly [type: AuditEventType, decision: string, metadata: JsonObject];

/** How the log is told of an outcome; `undefined` where who performs writes it. */
function storyEnd({ end }: PendingRecord, { outcome, code }: Settlement): StoryEnd | undefined {
  const { status, detail: reason } = outcome;
  switch (status) {
    case "not_collected":
      return [
        "consent_not_collected",
        "not_collected",
        { reason, approvers: end?.approverIds ?? [] },
      ];
    case "not_performed":
      return [
        "tool_call_completed",
        "allow",
        { outcome: status, ...(code === undefined ? {} : { error: code }), reason },
      ];
    case "unknown":
      return ["outcome_unknown", "allow", { reason }];
    case "ran":
    case "failed":
      return undefined;
    default:
      return status satisfies never;
  }
}

async function noteOutcome(
  parts: LogParts,
  record: PendingRecord,
  settlement: Settlement,
): Promise<void> {
  const told = storyEnd(record, settlement);
  if (told === undefined) return;
  // It says that nothing is known to have been done: a log that cannot keep it shows itself at the
  // next event.
  await appendEvent(parts, record, ...told).catch(() => undefined);
}

/**
 * Keeps the outcome of a yes that was taken, once the log has it: whoever finds the one finds the
 * other.
 *
 * @throws What the store throws.
 */
export async function settleTaken(
  parts: QuestionParts,
  record: PendingRecord,
  settlement: Settlement,
): Promise<void> {
  await noteOutcome(parts, record, settlement);
  await keepOutcome(parts, record, settlement.outcome);
}

/**
 * Keeps the outcome of a yes that was taken, of which the log has heard or is not to hear.
 *
 * @throws What the store throws.
 */
export async function keepOutcome(
  parts: KeptParts,
  { id }: PendingRecord,
  outcome: ConsentOutcome,
): Promise<void> {
  await advanceQuestion(parts, id, { type: "outcome", outcome });
}

/**
 * Follows the permit that a question's yes became. It has an outcome in the end, whatever its
 * holder does.
 */
export function followYes(
  parts: QuestionParts & Pick<PermitParts, "yeses">,
  record: PendingRecord,
  permit: Permit,
): void {
  const stopped = new AbortController();
  const { signal } = stopped;
  let isSettled = false;
  let isBegun = false;
  const once = (keep: () => Promise<void>): void => {
    if (isSettled) return;
    isSettled = true;
    stopped.abort(new Error("it is known what came of it"));
    // Who watches the record gives up by itself where the store is gone.
    keep().catch(() => undefined);
  };
  const stop: Yes["stop"] = (settlement) => once(() => settleTaken(parts, record, settlement));
  parts.yeses.set(permit, {
    begin: () => (isBegun = true),
    settle: (outcome) => once(() => keepOutcome(parts, record, outcome)),
    stop,
  });
  const watch = async (): Promise<void> => {
    await parts.clock.sleep(PERMIT_TTL_MS, { signal, background: true });
    if (isBegun) return;
    if (!isSpent(permit))
      return stop({
        outcome: makeConsentOutcome("not_collected", "the caller did not use it in time"),
      });
    await parts.clock.sleep(REPORT_WAIT_MS, { signal, background: true });
    if (!isBegun)
      stop({
        outcome: makeConsentOutcome("unknown", "who performed it did not report what came of it"),
      });
  };
  watch().catch(() => undefined);
}

/**
 * Ends a yes that nobody took: after it nobody can.
 *
 * @throws What the store throws.
 */
export async function giveUp(parts: QuestionParts, id: string, reason: string): Promise<void> {
  const { store, clock, within, onIgnored } = parts;
  const ended = await advanceQuestion(parts, id, { type: "uncollected", reason });
  const outcome = ended.ok ? ended.record.outcome : undefined;
  if (!ended.ok || outcome === undefined) return;
  // A store that was set back offers again what was taken, and the log has what came of it.
  if (await within(claimDecision(store.claims, ended.record, clock.now()), "the store"))
    await noteOutcome(parts, ended.record, { outcome });
  else onIgnored("question", id, IGNORED.taken);
}

/** Ends a yes that nobody takes in time. */
async function endUncollected(
  parts: QuestionParts,
  record: PendingRecord,
  signal: AbortSignal,
): Promise<void> {
  const { id, deferred } = record;
  const reason = deferred
    ? "the caller did not call again in time"
    : "nobody waited for the answer";
  let waitMs = deferred ? decisionLeftMs(parts, record) : COLLECT_WAIT_MS;
  for (;;) {
    const isTimed = await parts.clock.sleep(waitMs, { signal, background: true }).then(
      () => true,
      () => false,
    );
    if (signal.aborted) return;
    try {
      return await giveUp(parts, id, reason);
    } catch (error) {
      // A store that is down is asked again; a clock that is would have it asked without end.
      if (!isTimed) throw error;
      waitMs = PART_TIMEOUT_MS;
    }
  }
}

/**
 * What became of an ended question's yes: watches its record, and ends it as not collected where
 * nobody takes it in time. Never rejects.
 *
 * @returns `undefined` where the question did not end in a yes.
 */
export async function outcomeOf(
  parts: QuestionParts & OpenParts,
  ended: PendingRecord,
): Promise<ConsentOutcome | undefined> {
  if (!isApproved(ended)) return undefined;
  const stop = new AbortController();
  let collecting: AbortController | undefined;
  const closer = (): void => stop.abort(new Error("the gate is closed"));
  parts.closers.add(closer);
  // Also a process that took the yes and died says nothing.
  parts.clock
    .sleep(OUTCOME_WAIT_MS_MAX, { signal: stop.signal, background: true })
    .then(closer, () => undefined);
  try {
    for await (const record of parts.store.pending.watch(ended.id, stop.signal)) {
      if (record.outcome !== undefined) return record.outcome;
      collecting?.abort(new Error("its terms changed"));
      collecting = undefined;
      if (record.adopted) continue;
      collecting = new AbortController();
      endUncollected(parts, record, collecting.signal).catch(() => undefined);
    }
    return makeConsentOutcome("unknown", "the gate closed or forgot the question first");
  } catch {
    return makeConsentOutcome("unknown", "the store failed");
  } finally {
    parts.closers.delete(closer);
    closer();
    collecting?.abort(new Error("it is known what came of it"));
  }
}

/** Ending a question: its end is durable in the log before anybody acts on it. */
import type { MachineEvent } from "../approval/machine-event.js";
import type { PendingRecord } from "../approval/pending-record.js";
import { requestHash } from "../approval/request-codec.js";
import type { DenyCode } from "../deny-codes.js";
import type { JsonObject } from "../json/value.js";
import { DECISION_TTL_MS } from "../limits.js";
import type { AuditEventInput, AuditEventType, AuditReceipt } from "../types/audit-event.js";
import type { EndStatus } from "../types/ending.js";
import { type Advance, advanceQuestion } from "./advance-question.js";
import type { KeptParts, LogParts, QuestionParts } from "./gate-parts.js";
import { IGNORED } from "./ignored.js";
import { questionLeftMs } from "./kept-time.js";
import { questionEvents } from "./record.js";

const END_EVENTS: Readonly<Record<EndStatus, AuditEventType>> = {
  approved: "consent_approved",
  approved_with_modifications: "consent_approved",
  denied: "consent_denied",
  expired: "consent_expired",
  cancelled: "consent_cancelled",
  failed: "consent_failed",
  superseded: "consent_superseded",
};

function endMetadata({ request, end }: PendingRecord): JsonObject {
  if (end === undefined) return {};
  return {
    reason: end.reason,
    ...(end.denyCode === undefined ? {} : { code: end.denyCode }),
    approvers: end.approverIds,
    channels: end.channels ?? [],
    proposed_digest: request.actionDigest,
    ...(end.effectiveDigest === undefined ? {} : { effective_digest: end.effectiveDigest }),
    ...(end.modifications === undefined ? {} : { approved_parameters: end.modifications }),
    ...(end.successorId === undefined ? {} : { successor: end.successorId }),
    ...(end.responses === undefined
      ? {}
      : { request_hash: requestHash(request), responses: end.responses }),
  };
}

/** The audit event of a question's end. */
export function endEvent(parts: LogParts, record: PendingRecord): AuditEventInput {
  const status = record.end?.status ?? "failed";
  return questionEvents(parts, record)(END_EVENTS[status], status, endMetadata(record));
}

/**
 * Takes the one end that a question has, also where its store was set back and offers it again.
 * Nobody is let through by any other end than a yes, so that only a yes is stopped here.
 */
async function claimEnd(parts: KeptParts, record: PendingRecord): Promise<boolean> {
  // Afterwards the question is out of time, whatever store it comes from.
  const ttlMs = questionLeftMs(parts, record) + DECISION_TTL_MS;
  const isYes = record.end?.effectiveDigest !== undefined || record.end?.status === "superseded";
  try {
    if (
      (await parts.within(
        parts.store.claims.claimOnce(`ended:${record.id}`, ttlMs),
        "the store",
      )) ||
      !isYes
    )
      return true;
    parts.onIgnored("question", record.id, IGNORED.ended);
    return false;
  } catch {
    return !isYes;
  }
}

/**
 * Makes the end of a question durable, then marks it so: only then does anybody who waits see it.
 * Where it cannot be made durable the end becomes `failed`.
 *
 * @param events - What is appended, the end's own event among them.
 * @param beforeSeen - Work that has to be done once the events are durable, and before anybody sees
 *   the end.
 */
export async function recordEnd(
  parts: QuestionParts,
  record: PendingRecord,
  {
    events,
    beforeSeen,
  }: {
    readonly events: readonly AuditEventInput[];
    readonly beforeSeen?: (receipt: AuditReceipt) => Promise<void>;
  },
): Promise<Advance> {
  const unrecordable = (reason: string, denyCode: DenyCode): Promise<Advance> =>
    advanceQuestion(parts, record.id, {
      type: "unrecordable",
      atMs: parts.clock.now(),
      reason,
      denyCode,
    });
  if (!(await claimEnd(parts, record)))
    return unrecordable("the question had ended before: its store was set back", "store_failed");
  let receipt: AuditReceipt;
  try {
    receipt = await parts.append(events);
  } catch {
    return unrecordable("the audit log could not keep the decision", "audit_failed");
  }
  await beforeSeen?.(receipt);
  return advanceQuestion(parts, record.id, { type: "recorded" });
}

type EndType = "expire" | "cancel" | "fail" | "pause";

/** An end that no person gave; its time is when it is taken. */
type UngivenEnd = {
  [T in EndType]: Omit<Extract<MachineEvent, { readonly type: T }>, "atMs">;
}[EndType];

/**
 * Ends a question now, for a reason that no person gave: expiry, withdrawal, failure. False where
 * it was over already.
 */
export async function endQuestion(
  parts: QuestionParts,
  id: string,
  end: UngivenEnd,
): Promise<boolean> {
  const ended = await advanceQuestion(parts, id, { ...end, atMs: parts.clock.now() });
  if (!ended.ok) return false;
  await recordEnd(parts, ended.record, { events: [endEvent(parts, ended.record)] });
  return true;
}

/**
 * Advancing a question: one event through the reducer, kept by the store's compare-and-set,
 * recorded before anybody acts on it.
 */
import { requestHash } from "../approval/request-codec.js";
import { reduce } from "../approval/machine.js";
import type { MachineEvent } from "../approval/machine-event.js";
import type { PendingRecord } from "../approval/pending-record.js";
import { bootTimeOf } from "../boot-time.js";
import type { DenyCode } from "../deny-codes.js";
import { ConsentError } from "../errors.js";
import type { JsonObject } from "../json/value.js";
import { DECISION_TTL_MS, TRANSITION_TRIES_MAX } from "../limits.js";
import type { GateParts } from "./gate-parts.js";
import type { AuditEventInput, AuditEventType, AuditReceipt } from "../types/audit-event.js";
import type { EndStatus, RefusalCode } from "../types/ending.js";
import { IGNORED } from "./ignored.js";
import { questionLeftMs } from "./kept-time.js";
import { eventMaker, subjectOfRecord } from "./record.js";

/** What became of an event. */
export type Advance =
  | { readonly ok: true; readonly record: PendingRecord }
  /** The record as it stands; left out where there is none. */
  | { readonly ok: false; readonly code: RefusalCode; readonly record?: PendingRecord };

/**
 * Puts one event through the reducer and keeps the result; tries again where somebody else was
 * faster.
 *
 * @throws What the store throws, and ConsentError `part_timeout`.
 */
export async function advance(parts: GateParts, id: string, event: MachineEvent): Promise<Advance> {
  const { pending } = parts.store;
  for (let tries = 0; tries < TRANSITION_TRIES_MAX; tries++) {
    const record = await parts.within(pending.get(id), "the store");
    if (record === undefined) return { ok: false, code: "request_unknown" };
    const reduction = reduce(record, event);
    if (!reduction.ok) return { ...reduction, record };
    const next = withEndTime(parts, reduction.next);
    if (await parts.within(pending.transition(id, record.version, next), "the store"))
      return { ok: true, record: next };
  }
  throw new ConsentError("part_timeout", `Cannot change the question "${id}": it kept changing`);
}

/** An end says when it came by the clock that survives this process. */
function withEndTime({ clock }: GateParts, record: PendingRecord): PendingRecord {
  const { end } = record;
  return end === undefined || end.ended !== undefined
    ? record
    : { ...record, end: { ...end, ended: bootTimeOf(clock) } };
}

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
export function endEvent(parts: GateParts, record: PendingRecord): AuditEventInput {
  const status = record.end?.status ?? "failed";
  return eventMaker(subjectOfRecord(record), parts)(
    END_EVENTS[status],
    status,
    endMetadata(record),
  );
}

/**
 * Takes the one end that a question has, also where its store was set back and offers it again.
 * Nobody is let through by any other end than a yes, so that only a yes is stopped here.
 */
async function claimEnd(parts: GateParts, record: PendingRecord): Promise<boolean> {
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
  parts: GateParts,
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
    advance(parts, record.id, { type: "unrecordable", atMs: parts.clock.now(), reason, denyCode });
  if (!(await claimEnd(parts, record)))
    return unrecordable("the question had ended before: its store was set back", "store_failed");
  let receipt: AuditReceipt;
  try {
    receipt = await parts.append(events);
  } catch {
    return unrecordable("the audit log could not keep the decision", "audit_failed");
  }
  await beforeSeen?.(receipt);
  return advance(parts, record.id, { type: "recorded" });
}

/**
 * Ends a question for a reason that no person gave: expiry, withdrawal, failure. False where it was
 * over already.
 */
export async function endQuestion(
  parts: GateParts,
  id: string,
  event: Extract<MachineEvent, { type: "expire" | "cancel" | "fail" | "pause" }>,
): Promise<boolean> {
  const ended = await advance(parts, id, event);
  if (!ended.ok) return false;
  await recordEnd(parts, ended.record, { events: [endEvent(parts, ended.record)] });
  return true;
}

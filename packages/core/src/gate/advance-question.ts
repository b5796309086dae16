/**
 * Advancing a question: one event through the reducer, kept by the store's compare-and-set.
 */
import type { MachineEvent } from "../approval/machine-event.js";
import { reduce } from "../approval/machine.js";
import type { PendingRecord } from "../approval/pending-record.js";
import { bootTimeOf } from "../boot-time.js";
import { ConsentError } from "../errors.js";
import { TRANSITION_TRIES_MAX } from "../limits.js";
import type { RefusalCode } from "../types/ending.js";
import type { KeptParts } from "./gate-parts.js";

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
export async function advanceQuestion(
  parts: KeptParts,
  id: string,
  event: MachineEvent,
): Promise<Advance> {
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
function withEndTime({ clock }: Pick<KeptParts, "clock">, record: PendingRecord): PendingRecord {
  const { end } = record;
  return end === undefined || end.ended !== undefined
    ? record
    : { ...record, end: { ...end, ended: bootTimeOf(clock) } };
}

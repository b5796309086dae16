/**
 * Delivery: shows a question where it is due, goes on to the next step when its time has come or
 * when it stands nowhere, and writes down each. Nobody may answer before the step that names them
 * is in the log.
 */
import { advanceQuestion } from "./advance-question.js";
import { endQuestion } from "./end-question.js";
import type { EscalationStep } from "../approval/escalation.js";
import type { PendingRecord } from "../approval/pending-record.js";
import {
  channelName,
  compositeOf,
  type Showing,
  showOn,
  undelivered,
} from "../channels/composite.js";
import { showInSteps, type StepReason } from "../channels/show-in-steps.js";
import type { DenyCode } from "../deny-codes.js";
import { messageOf } from "./deny.js";
import { isConsentError } from "../errors.js";
import type { JsonObject } from "../json/value.js";
import type { AskParts, QuestionParts } from "./gate-parts.js";
import type { AuditEventType } from "../types/audit-event.js";
import type { AskSession, Channel } from "../ports.js";
import { appendEvent } from "./record.js";

/** A question to show. */
export interface Delivery {
  readonly record: PendingRecord;
  /** True where it was shown before. */
  readonly redelivery: boolean;
  /** Aborts when the question is over. */
  readonly over: AbortSignal;
  /** The session of a question that is shown, for the first time or again, on a channel. */
  readonly sessionOn: (channel: Channel, redelivery: boolean) => AskSession;
}

function deliveryFailure(error: unknown): { readonly denyCode: DenyCode; readonly reason: string } {
  const message = messageOf(error);
  if (isConsentError(error, "channel_unavailable"))
    return { denyCode: "channel_unavailable", reason: message };
  return { denyCode: "channel_failed", reason: `the channel failed: ${message}` };
}

/** Writes down what became of showing it on one channel, plain or made of others. */
async function noteShowing(
  parts: QuestionParts,
  { record }: Delivery,
  { on, shown, failed }: Showing & { readonly on: Channel },
): Promise<void> {
  const note = (type: AuditEventType, metadata: JsonObject): Promise<unknown> =>
    appendEvent(parts, record, type, "pending", metadata);
  const isPlain = compositeOf(on) === undefined;
  const isAlone = isPlain && record.request.escalation === undefined;
  // Nothing is released because of a delivery, so a log that cannot keep these events shows itself
  // at the next one.
  if (shown.length > 0) {
    const delivered = await advanceQuestion(parts, record.id, { type: "delivered" });
    if (delivered.ok || !isAlone)
      await note("consent_delivered", {
        channel: channelName(on),
        ...(isPlain ? {} : { shown_by: shown }),
      });
  }
  // The failure of the only channel is the question's end, which has an event of its own.
  if (isAlone) return;
  for (const { channel, error } of failed)
    await note("consent_undelivered", { channel, reason: error.message });
}

/** A step at its place, and why it is taken. */
interface Taken {
  readonly step: EscalationStep;
  readonly at: number;
  readonly reason: StepReason;
}

/**
 * Takes a step: first it is in the log, then its people may answer. False where the question is
 * over or another process takes it.
 */
async function reachStep(
  parts: QuestionParts,
  { record }: Delivery,
  { step, at, reason }: Taken,
): Promise<boolean> {
  const { afterMs, approvers, channel } = step;
  const metadata = {
    step: at + 1,
    reason,
    after_ms: afterMs,
    ...(approvers === undefined ? {} : { to: approvers }),
    ...(channel === undefined ? {} : { channel }),
  };
  await appendEvent(parts, record, "consent_escalated", "pending", metadata);
  const advanced = await advanceQuestion(parts, record.id, { type: "escalate", step: at + 1 });
  return advanced.ok;
}

/** Shows a question from now until it is over. Ends it where it can be shown nowhere. */
export async function deliver(parts: QuestionParts & AskParts, delivery: Delivery): Promise<void> {
  const { record, redelivery, over, sessionOn } = delivery;
  const { request, escalated: reached = 0 } = record;
  const steps = request.escalation ?? [];
  const showAt = async (
    on: Channel,
    again: boolean,
    skip: ReadonlySet<string>,
  ): Promise<Showing> => {
    const showing = await showOn(on, { request, session: sessionOn(on, again), skip });
    await noteShowing(parts, delivery, { on, ...showing }).catch(() => undefined);
    return showing;
  };
  const { shown, failed } = await showInSteps({
    clock: parts.clock,
    createdAtMs: request.createdAtMs,
    steps,
    reached,
    over,
    show: (step, skip) => {
      if (step === undefined) return showAt(parts.channel, redelivery, skip);
      const on = step.channel === undefined ? undefined : parts.channels.get(step.channel);
      return on !== undefined
        ? showAt(on, redelivery && steps.indexOf(step) < reached, skip)
        : Promise.resolve({ shown: [], failed: [] });
    },
    reach: (at, reason) => {
      const step = steps[at];
      return step === undefined
        ? Promise.resolve(false)
        : reachStep(parts, delivery, { step, at, reason });
    },
  });
  if (shown.length > 0 || over.aborted) return;
  const [only, ...others] = failed;
  const error = others.length === 0 && only !== undefined ? only.error : undelivered(failed);
  await endQuestion(parts, record.id, {
    type: "fail",
    ...deliveryFailure(error),
  });
}

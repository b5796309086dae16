/** Resuming: what a gate does first in a process that starts, with what its store has. */
import { advanceQuestion } from "./advance-question.js";
import { endEvent, endQuestion } from "./end-question.js";
import { makeConsentOutcome } from "../approval/consent-outcome.js";
import {
  isUncollected,
  isUnrecorded,
  isUnreleased,
  type PendingRecord,
} from "../approval/pending-record.js";
import type { ResumeOptions } from "./consent-gate.js";
import { giveUp, keepOutcome, outcomeOf, settleTaken } from "./follow-yes.js";
import type { KeptParts, QuestionParts, ShowParts } from "./gate-parts.js";
import { holdAfterRestart, keepAfterRestart } from "./hold.js";
import { grantLeftMs, questionLeftMs } from "./kept-time.js";
import { showQuestion } from "./questions.js";
import { endGrant } from "./revoke-grant.js";

/**
 * After a restart: what is out of time ends, what is still open is shown again, and a yes that
 * nobody took is followed to its outcome.
 */
export async function resumeQuestions(
  parts: ShowParts,
  {
    answered = new Set(),
    forwarded = new Set(),
    unanswered = new Set(),
    areCallersGone = false,
  }: ResumeOptions = {},
): Promise<number> {
  await endOverGrants(parts).catch(() => undefined);
  let redelivered = 0;
  for await (const opened of parts.store.pending.open()) {
    if (parts.followed.has(opened.id)) continue;
    const record = isUnrecorded(opened)
      ? await settleAnswer(parts, opened, answered.has(opened.id))
      : opened;
    if (record === undefined) continue;
    if (isUnreleased(record)) {
      await endUnreleased(parts, record, forwarded.has(record.id));
      continue;
    }
    if (areCallersGone) {
      await endUnclaimed(parts, record);
      continue;
    }
    if (record.status === "ended") {
      await keepAfterRestart(parts, record);
      // Nobody is told: the log has it.
      void outcomeOf(parts, record);
      continue;
    }
    if (questionLeftMs(parts, record) === 0) {
      await endQuestion(parts, record.id, { type: "expire" });
      continue;
    }
    if (unanswered.has(record.id)) parts.rounds.set(record.id, parts.ids.next("n"));
    showQuestion(parts, record, true);
    await holdAfterRestart(parts, record);
    redelivered++;
  }
  return redelivered;
}

/**
 * An answer counts where the log has it; where it does not, the question ends without one. Gives the
 * record where somebody may still collect the answer.
 */
async function settleAnswer(
  parts: QuestionParts,
  { id }: PendingRecord,
  isLogged: boolean,
): Promise<PendingRecord | undefined> {
  if (isLogged) {
    const noted = await advanceQuestion(parts, id, { type: "recorded" });
    return noted.ok && isUncollected(noted.record) ? noted.record : undefined;
  }
  const failed = await advanceQuestion(parts, id, {
    type: "unrecordable",
    atMs: parts.clock.now(),
    reason: "the process that asked ended before the audit log had the answer",
    denyCode: "audit_failed",
  });
  if (failed.ok) await parts.append([endEvent(parts, failed.record)]);
  return undefined;
}

/**
 * Of a call that had taken its yes when its process ended: what the log does not show as forwarded
 * was not done. What it shows has its end there already.
 */
async function endUnreleased(
  parts: QuestionParts,
  record: PendingRecord,
  isForwarded: boolean,
): Promise<void> {
  const why = "the process that asked ended";
  if (isForwarded) await keepOutcome(parts, record, makeConsentOutcome("unknown", why));
  else
    await settleTaken(parts, record, {
      outcome: makeConsentOutcome("not_performed", `${why} before it began`),
    });
}

/** Ends what nobody waits for or comes back for. */
async function endUnclaimed(parts: QuestionParts, { id, status }: PendingRecord): Promise<void> {
  const reason = "the process that asked ended, and its caller did not come back";
  if (status === "ended") await giveUp(parts, id, reason);
  else await endQuestion(parts, id, { type: "cancel", reason, denyCode: "consent_cancelled" });
}

/**
 * Where the wall clock is behind the log, ends for good the grants that this ends: a later start
 * would see a log whose last events have the wrong time. A store that fails here fails where a
 * grant is looked for, and no grant is used then.
 */
async function endOverGrants(parts: KeptParts): Promise<void> {
  const { grants, claims } = parts.store;
  const lastEventMs = parts.lastEventMs();
  if (lastEventMs === undefined || parts.clock.now() >= lastEventMs) return;
  for (const grant of await parts.within(grants.list(), "the store"))
    if (grantLeftMs(parts, grant) === 0)
      await parts.within(endGrant({ grants, claims }, grant), "the store");
}

/**
 * Settle a review: take from it or drop it, written into the audit log before and after.
 */
import { ConsentError, logEvent, randomIds, systemClock } from "@acp/core";
import type { AuditEventInput, AuditSink, JsonObject } from "@acp/core";
import type { Home } from "@acp/home";
import { takeChanges } from "@acp/sandbox-linux";
import type { Taken, TakeOrder } from "@acp/sandbox-linux";
import { readAuditConfig } from "../logs/log-settings.js";
import type { Io } from "../command.js";
import { openHomeAudit } from "../logs/open-audit.js";
import { isEmpty, isRunning, removeReview, withFrozen } from "./store.js";
import type { Review } from "./store.js";

/** Where it is written down. */
export interface SettleParts {
  readonly home: Home;
  readonly io: Pick<Io, "userHome">;
  /** A log that this process has open; left out: one of the home is opened. */
  readonly log?: AuditSink;
  /** Who settles it, for the log; left out: whoever runs this program. */
  readonly by?: JsonObject;
}

/** What came of it. */
export interface Settled extends Taken {
  /** Whether nothing is left of the review, which is then removed. */
  readonly isOver: boolean;
}

/**
 * Takes what an order says, from what was frozen and shown.
 *
 * @throws ConsentError `options_invalid` where that is not what was shown; `audit_failed`, and then
 *   nothing is taken.
 */
export async function takeFrom(
  review: Review,
  order: TakeOrder,
  parts: SettleParts,
): Promise<Settled> {
  const taken = await withFrozen(review, async (snapshot) => {
    if (snapshot === undefined)
      throw new ConsentError(
        "options_invalid",
        `Cannot take from review ${review.id}: look at it first, acp review show ${review.id}`,
      );
    const what = order.paths === "all" ? "all" : `${order.paths.length} paths`;
    if (order.digest === snapshot.digest)
      await note(parts, review, {
        text: `Taking ${what} of review ${review.id}`,
        digest: order.digest,
      });
    const done = await takeChanges(snapshot, order);
    const counts = {
      taken: done.taken.length,
      already: done.already.length,
      conflicts: done.conflicts.length,
      failed: done.failed.length,
      apart: done.apart.length,
    };
    await note(parts, review, {
      text: `Took ${counts.taken} changes of review ${review.id}`,
      digest: order.digest,
      ...counts,
    });
    return done;
  });
  return { ...taken, isOver: await removeIfEmpty(review, taken) };
}

/**
 * Removes a review of which nothing is left. What was frozen stays as it was shown. @returns
 * Whether it did.
 */
async function removeIfEmpty(
  review: Review,
  { conflicts, apart, failed }: Taken,
): Promise<boolean> {
  if (
    conflicts.length + apart.length + failed.length > 0 ||
    (await isRunning(review)) ||
    !(await isEmpty(review))
  )
    return false;
  await removeReview(review);
  return true;
}

/**
 * Removes a review, with all that the agent wrote.
 *
 * @throws ConsentError `options_invalid` while its agent runs; `audit_failed`, and then it stays.
 */
export async function drop(review: Review, parts: SettleParts): Promise<void> {
  if (await isRunning(review))
    throw new ConsentError(
      "options_invalid",
      `Cannot drop review ${review.id}: its command is still running; end it first`,
    );
  await note(parts, review, { text: `Dropped review ${review.id}` });
  await removeReview(review);
}

async function note(
  { home, io, log, by }: SettleParts,
  { id, agent }: Review,
  { text, ...more }: { readonly text: string } & JsonObject,
): Promise<void> {
  const stamp = { id: randomIds.next("ae"), atMs: systemClock.now() };
  const event: AuditEventInput = {
    ...logEvent("gate_notice", stamp, { notice: "review", review: id, text, ...more, ...by }),
    agent,
  };
  if (log !== undefined) {
    await log.append([event]);
    return;
  }
  await using audit = await openHomeAudit(home, { config: await readAuditConfig({ home, io }) });
  await audit.append([event]);
}

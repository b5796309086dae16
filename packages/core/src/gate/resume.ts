/** Resuming: what a gate does first in a process that starts, with what its store has. */
import { endQuestion } from "./end-question.js";
import { outcomeOf } from "./follow-yes.js";
import type { KeptParts, ShowParts } from "./gate-parts.js";
import { holdAfterRestart, keepAfterRestart } from "./hold.js";
import { grantLeftMs, questionLeftMs } from "./kept-time.js";
import { showQuestion } from "./questions.js";
import { endGrant } from "./revoke-grant.js";

/**
 * After a restart: what is out of time ends, what is still open is shown again, and a yes that
 * nobody took is followed to its outcome.
 */
export async function resumeQuestions(parts: ShowParts): Promise<number> {
  await endOverGrants(parts).catch(() => undefined);
  let redelivered = 0;
  for await (const record of parts.store.pending.open()) {
    if (parts.followed.has(record.id)) continue;
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
    showQuestion(parts, record, true);
    await holdAfterRestart(parts, record);
    redelivered++;
  }
  return redelivered;
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

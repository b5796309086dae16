/**
 * HubIds: the protocol wants UUIDv7 for a request, the gate writes `cr_<uuid>` for a question. They
 * are the same id, once with the prefix.
 */
import type { Clock, IdPrefix, Ids } from "@acp/core";
import { createUuidV7 } from "./uuid-v7.js";

const QUESTION: IdPrefix = "cr";

/**
 * Ids of a gate whose questions are numbered as the protocol wants; everything else is as given.
 */
export function hubIds(ids: Ids, clock: Pick<Clock, "now">): Ids {
  const uuid = createUuidV7({ clock });
  return { next: (prefix) => (prefix === QUESTION ? `${prefix}_${uuid()}` : ids.next(prefix)) };
}

/** The protocol's id of a question. */
export function approvalIdOf(questionId: string): string {
  return questionId.startsWith(`${QUESTION}_`) ? questionId.slice(QUESTION.length + 1) : questionId;
}

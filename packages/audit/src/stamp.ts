/** Stamps: id and time of the events that a log records about itself. */
import type { AuditEventInput, Ids } from "@acp/core";

/** Id and time of an event. */
export type Stamp = Pick<AuditEventInput, "id" | "atMs">;

/** A fresh id, and the time given. */
export function stampAt(ids: Ids, atMs: number): Stamp {
  return { id: ids.next("ae"), atMs };
}

/**
 * Ignored records: what a store gave and no gate with this key wrote. Each is in the log once, and
 * nothing waits for that.
 */
import { logEvent } from "../log-event.js";
import { IGNORED_NOTED_MAX } from "../limits.js";
import type { AuditEventInput } from "../types/audit-event.js";
import type { Clock, Ids } from "../types/clock.js";

/** Hears of each record that does not count. */
export type OnIgnored = (kind: "question" | "grant", id: unknown, reason: string) => void;

/** Why a record does not count. */
export const IGNORED = {
  forged: "no gate with this key wrote it, or it was changed since",
  other: "the store gave another record than the one that was asked for",
  older: "the store gave an older version than it had",
  taken: "its decision was taken before",
  ended: "it had ended before",
  revoked: "it was revoked before",
  used: "all of its uses were taken before",
  unproven: "its proof does not hold anymore",
} as const;

/** The id that a stored value says it has. */
export const idOf = (stored: unknown): unknown =>
  typeof stored === "object" && stored !== null && "id" in stored ? stored.id : undefined;

const ID_CHARS_MAX = 64;

const printId = (id: unknown): string =>
  typeof id === "string" ? id.slice(0, ID_CHARS_MAX).replaceAll(/[^\w-]/g, "?") : "";

/**
 * Notes each record once; after {@link IGNORED_NOTED_MAX} of them one event says that more are not
 * named.
 */
export function noteIgnored({
  append,
  clock,
  ids,
}: {
  readonly append: (events: readonly AuditEventInput[]) => Promise<unknown>;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Ids;
}): OnIgnored {
  const noted = new Set<string>();
  return (kind, id, reason) => {
    const key = `${kind} ${printId(id)} ${reason}`;
    if (noted.has(key) || noted.size > IGNORED_NOTED_MAX) return;
    const isLast = noted.size === IGNORED_NOTED_MAX;
    noted.add(key);
    const metadata = isLast
      ? { kind, id: "", reason: "more records are ignored and not named" }
      : { kind, id: printId(id), reason };
    const event = logEvent(
      "stored_record_ignored",
      { id: ids.next("ae"), atMs: clock.now() },
      metadata,
    );
    // Nothing is released because of it, and nothing is held up by it.
    append([event]).catch(() => undefined);
  };
}

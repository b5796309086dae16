/**
 * Silent: connections that have not said who they are. Whoever says nothing keeps nobody out who
 * does.
 */
import { LIMITS } from "./limits.js";
import type { Session } from "./session.js";

/**
 * More than there are sessions: clients that come together, of which each will speak, are all
 * heard.
 */
export const SILENT_MAX: number = 2 * LIMITS.sessions;

/** Ends the oldest of those that are too many. */
export function endSilent(sessions: Iterable<Pick<Session, "isSilent" | "leave">>): void {
  const silent = [...sessions].filter(({ isSilent }) => isSilent());
  for (const each of silent.slice(0, Math.max(0, silent.length - SILENT_MAX)))
    each.leave("leaving");
}

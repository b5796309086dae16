/**
 * Restart servers: those of every client of a resident, or one of them, for a person who asks.
 */
import { systemClock } from "@acp/core";
import type { Clock } from "@acp/core";
import { agentNamed } from "./agent-named.js";
import type { Session } from "./session.js";

/** Whose servers are being restarted. Plain JSON data. */
export interface Restarted {
  readonly agent: string;
  readonly pid: number;
  readonly servers: readonly string[];
  /** It has not begun in time: its configuration is still being written, or cannot be read. */
  readonly late?: true;
}

/** A configuration counts once it has stayed as it is; one client's file holds up no other. */
const BEGIN_MS_MAX = 20_000;

/**
 * Begins it for all that are there; their calls under way may take some seconds more. One that is
 * late is named, and restarts later.
 */
export async function restartServers(
  sessions: Iterable<Pick<Session, "hello" | "restart">>,
  name: string | undefined,
  clock: Clock = systemClock,
): Promise<readonly Restarted[]> {
  const stop = new AbortController();
  const tooLate = clock
    .sleep(BEGIN_MS_MAX, { signal: stop.signal, background: true })
    .then(() => "late" as const)
    .catch(() => "late" as const);
  const all = await Promise.all(
    Array.from(sessions, async ({ hello, restart }) => {
      const said = hello();
      if (said === undefined) return [];
      const whose = { agent: agentNamed(said.argv), pid: said.pid };
      const servers = await Promise.race([restart(name).catch(() => "late" as const), tooLate]);
      if (servers === "late") return [{ ...whose, servers: [], late: true as const }];
      return servers.length === 0 ? [] : [{ ...whose, servers }];
    }),
  );
  stop.abort(new Error("all have begun"));
  return all.flat();
}

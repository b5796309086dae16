/**
 * Restart servers: those of every client of a resident, or one of them, for a person who asks.
 */
import { agentNamed } from "./agent-named.js";
import type { Session } from "./session.js";

/** Whose servers are being restarted. Plain JSON data. */
export interface Restarted {
  readonly agent: string;
  readonly pid: number;
  readonly servers: readonly string[];
}

/** Begins it for all that are there; their calls under way may take some seconds more. */
export async function restartServers(
  sessions: Iterable<Pick<Session, "hello" | "restart">>,
  name: string | undefined,
): Promise<readonly Restarted[]> {
  const all = await Promise.all(
    Array.from(sessions, async ({ hello, restart }) => {
      const said = hello();
      if (said === undefined) return [];
      const servers = await restart(name);
      return servers.length === 0 ? [] : [{ agent: agentNamed(said.argv), pid: said.pid, servers }];
    }),
  );
  return all.flat();
}

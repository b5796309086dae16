/**
 * Status: what a resident says of itself and its clients to people's commands.
 */
import type { IndexRebuild } from "../logs/index-rebuild.js";
import { agentNamed } from "./agent-named.js";
import { clientName } from "./budgets.js";
import { LIMITS } from "./limits.js";
import type { Status } from "./control.js";
import type { HomeGates } from "./home-gates.js";
import type { Lock } from "./lock.js";
import type { Release } from "./newer.js";
import type { Peers } from "./peers.js";
import type { Session } from "./session.js";
import type { SharedServers } from "./shared-servers.js";
import { PROTOCOLS } from "./wire.js";

/** Parts of {@link statusOf}. */
export interface StatusParts {
  readonly own: Release;
  isCurrent(): boolean;
  readonly homeDir: string;
  readonly gates: Pick<HomeGates, "attached">;
  readonly lock: Pick<Lock, "until">;
  readonly rebuild: Pick<IndexRebuild, "percent">;
  readonly peers: Pick<Peers, "isChecked">;
  readonly sharing: Pick<SharedServers, "running">;
  readonly sessions: ReadonlySet<Pick<Session, "hello" | "usage" | "servers">>;
}

/** Begins to count the time now; each call says how it is then. */
export function statusOf(parts: StatusParts): () => Status {
  const { own, isCurrent, homeDir, gates, lock, rebuild, peers, sharing } = parts;
  const [startMs, startWallMs] = [performance.now(), Date.now()];
  return () => {
    const { clients, questions } = clientsOf(parts);
    return {
      pid: process.pid,
      ...own,
      is_current: isCurrent(),
      protocol: PROTOCOLS,
      home: homeDir,
      started_at: new Date(startWallMs).toISOString(),
      uptime_seconds: Math.floor((performance.now() - startMs) / 1_000),
      memory_bytes: process.memoryUsage.rss(),
      approvers: gates.attached(),
      questions,
      budgets: LIMITS,
      peer_uids_checked: peers.isChecked(),
      unlocked_until: lock.until() ?? null,
      index_percent: rebuild.percent() ?? null,
      shared_servers: sharing.running(),
      clients,
    };
  };
}

function clientsOf({ sessions }: StatusParts): Pick<Status, "clients" | "questions"> {
  const clients: Status["clients"][number][] = [];
  // Sessions of one client share what they have.
  const questions = new Map<string, number>();
  for (const { hello, usage, servers } of sessions) {
    const [said, used] = [hello(), usage()];
    if (said === undefined || used === undefined) continue;
    const { pid, ppid, cwd, argv, version } = said;
    const agent = agentNamed(argv);
    questions.set(clientName(agent, ppid), used.questions);
    clients.push({ agent, pid, ppid, cwd, argv, version, servers: servers(), used });
  }
  return { clients, questions: [...questions.values()].reduce((sum, each) => sum + each, 0) };
}

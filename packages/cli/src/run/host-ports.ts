/**
 * Host ports: services of this machine that the operator opens to the agent, each under its own
 * number on the agent's loopback. The gate judges none of what passes; it is on the command line,
 * said at the start and in the log, and cut while the gate or the agent is paused.
 */
import { connect, type Socket } from "node:net";
import { ConsentError, type Clock } from "@acp/core";
import { readAgentPause, readPause, type Home } from "@acp/home";
import { describePortHolder } from "../inbox/port-holder.js";

/** What ports are opened with. */
export interface HostPortsParts {
  readonly home: Home;
  readonly agentId: string;
  readonly clock: Clock;
}

/** Ports that are open while the agent runs. */
export interface HostPorts {
  /** Who takes the connections of each. */
  readonly takers: ReadonlyMap<number, (socket: Socket) => void>;
  /** Cuts every connection. */
  close(): void;
}

/**
 * Container engines: whoever reaches one is root. Their encrypted ports too, since the agent may
 * have found the key.
 */
const ENGINES: ReadonlySet<number> = new Set([2375, 2376, 2377, 4243, 10_250, 10_255]);
const FORBIDDEN =
  /(?:^|[/\s(])(?:dockerd|docker-proxy|containerd|podman|buildkitd|crio|kubelet|acp(?:\.cjs)?)(?:[\s)]|$)|@acp\//u;
/** How long a connection outlives a pause, at most. */
const LOOK_MS = 500;
/** At once, of all ports: each takes two descriptors of the process that the gate is in. */
const CONNECTIONS_MAX = 256;

/**
 * Refuses ports that nobody may open to an agent.
 *
 * @param own - Ports of this home's own servers.
 * @throws ConsentError `options_invalid`.
 */
export async function checkHostPorts(
  ports: readonly number[],
  own: readonly number[],
): Promise<void> {
  for (const port of ports) {
    const holder = await describePortHolder(port);
    const isOurs = own.includes(port) || (holder !== undefined && FORBIDDEN.test(holder));
    if (!isOurs && !ENGINES.has(port)) continue;
    const why = ENGINES.has(port)
      ? "it is a container engine's"
      : `it is ACP's or a container engine's${holder === undefined ? "" : `: ${holder}`}`;
    throw new ConsentError("options_invalid", `Cannot open port ${port} to the command: ${why}`);
  }
}

/** Opens them. */
export function openHostPorts(
  ports: readonly number[],
  { home, agentId, clock }: HostPortsParts,
): HostPorts {
  const open = new Set<Socket>();
  const isPaused = (): boolean =>
    (readPause(home, clock.now()) ?? readAgentPause(home, { id: agentId }, clock.now())) !==
    undefined;
  const cut = (): void => {
    for (const each of open) each.destroy();
  };
  const timer = setInterval(() => {
    if (open.size > 0 && isPaused()) cut();
  }, LOOK_MS);
  timer.unref();
  const take =
    (port: number) =>
    (agent: Socket): void => {
      if (isPaused() || open.size >= 2 * CONNECTIONS_MAX) return void agent.destroy();
      // Who has said all still hears the answer.
      agent.allowHalfOpen = true;
      const service = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
      for (const [one, other] of [
        [agent, service],
        [service, agent],
      ] as const) {
        open.add(one);
        one.on("error", () => other.destroy());
        one.on("close", () => {
          open.delete(one);
          other.end();
        });
        one.pipe(other);
      }
    };
  return {
    takers: new Map(ports.map((port) => [port, take(port)])),
    close() {
      clearInterval(timer);
      cut();
    },
  };
}

/**
 * Host ports: services of this machine that the operator opens to the agent, each under its own
 * number on the agent's loopback. The gate judges none of what passes; it is on the command line,
 * said at the start and in the log, and cut while the gate or the agent is paused.
 */
import { connect, type Socket } from "node:net";
import type { Clock } from "@acp/core";
import { readAgentPause, readPause, type Home } from "@acp/home";
import type { PortGuard } from "./port-guard.js";

/** What ports are opened with. */
export interface HostPortsParts {
  readonly home: Home;
  readonly agentId: string;
  readonly clock: Clock;
  readonly guard: PortGuard;
  /** Hears once of each port that was refused after the start. */
  readonly refused: (port: number, why: string) => void;
}

/** Ports that are open while the agent runs. */
export interface HostPorts {
  /** Who takes the connections of each. */
  readonly takers: ReadonlyMap<number, (socket: Socket) => void>;
  /** Cuts every connection. */
  close(): void;
}

/** How long a connection outlives a pause, at most. */
const LOOK_MS = 500;
/** At once, of all ports: each takes two descriptors of the process that the gate is in. */
const CONNECTIONS_MAX = 256;

/** Opens them. */
export function openHostPorts(
  ports: readonly number[],
  { home, agentId, clock, guard, refused }: HostPortsParts,
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
  const told = new Set<number>();
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
      }
      const admit = async (): Promise<void> => {
        // Once connected: whoever takes the port from now on does not get this connection.
        const why = await guard.whyNot(port).catch(() => "it cannot be inspected");
        if (why === undefined) return void agent.pipe(service).pipe(agent);
        if (!told.has(port)) refused(port, why);
        told.add(port);
        agent.destroy();
        service.destroy();
      };
      service.once("connect", () => void admit());
    };
  return {
    takers: new Map(ports.map((port) => [port, take(port)])),
    close() {
      clearInterval(timer);
      cut();
    },
  };
}

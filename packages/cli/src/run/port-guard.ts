/**
 * Port guard: whether what listens on a port of this machine may be opened to an agent. A port is
 * a number that anybody takes after the start, so that what listens is looked at for each
 * connection, before the first byte passes.
 */
import { ConsentError } from "@acp/core";
import { describeListener, listenersOn } from "../inbox/port-holder.js";
import type { Listener } from "../inbox/port-holder.js";

/** Looks at ports. */
export interface PortGuard {
  /**
   * Why a port must not be reached now, as the end of a sentence; `undefined` where it may.
   *
   * @param port - Of this machine.
   */
  whyNot(port: number): Promise<string | undefined>;
}

/**
 * Container engines: whoever reaches one is root. Their encrypted ports too, since the agent may
 * have found the key.
 */
const ENGINES: ReadonlySet<number> = new Set([2375, 2376, 2377, 4243, 10_250, 10_255]);
const FORBIDDEN =
  /(?:^|[/\s(])(?:dockerd|docker-proxy|containerd|podman|buildkitd|crio|kubelet|acp(?:\.cjs)?)(?:[\s)]|$)|@acp\//u;

/**
 * Makes one.
 *
 * @param own - Ports of this home's own servers.
 */
export function makePortGuard(own: readonly number[]): PortGuard {
  /** By socket: each is looked into once, since that reads what every process has open. */
  const known = new Map<string, Promise<string | undefined>>();
  /** By port: who had it first. */
  const users = new Map<number, ReadonlySet<string>>();
  const look = sharedLooks();
  const whyNotListener = (listener: Listener): Promise<string | undefined> => {
    const why = known.get(listener.inode) ?? describeListener(listener).then(whyNotHolder);
    known.set(listener.inode, why);
    return why;
  };
  return {
    async whyNot(port) {
      if (ENGINES.has(port)) return "it is a container engine's";
      if (own.includes(port)) return "it is ACP's or a container engine's";
      const listeners = await look(port);
      const first = users.get(port);
      if (first === undefined && listeners.length > 0)
        users.set(port, new Set(listeners.map(({ uid }) => uid)));
      const stranger = listeners.find(({ uid }) => first !== undefined && !first.has(uid));
      if (stranger !== undefined) return `user ${stranger.uid} took it, who did not have it before`;
      for (const each of listeners) {
        const why = await whyNotListener(each);
        if (why !== undefined) return why;
      }
      return undefined;
    },
  };
}

function whyNotHolder(holder: string): string | undefined {
  return FORBIDDEN.test(holder) ? `it is ACP's or a container engine's: ${holder}` : undefined;
}

/**
 * Refuses ports that nobody may open to an agent.
 *
 * @throws ConsentError `options_invalid`.
 */
export async function checkHostPorts(ports: readonly number[], guard: PortGuard): Promise<void> {
  for (const port of ports) {
    const why = await guard.whyNot(port);
    if (why !== undefined)
      throw new ConsentError("options_invalid", `Cannot open port ${port} to the command: ${why}`);
  }
}

type Look = (port: number) => Promise<readonly Listener[]>;

/**
 * One look at a time, whatever number of connections wait for it: each look reads the kernel's
 * whole table. Whoever comes while one is under way gets the next, which began later than they.
 */
function sharedLooks(): Look {
  const running = new Map<number, Promise<unknown>>();
  const next = new Map<number, Promise<readonly Listener[]>>();
  return (port) => {
    const waiting = next.get(port);
    if (waiting !== undefined) return waiting;
    const look = (async () => {
      await running.get(port);
      next.delete(port);
      const found = listenersOn(port);
      running.set(port, found);
      return await found;
    })();
    next.set(port, look);
    return look;
  };
}

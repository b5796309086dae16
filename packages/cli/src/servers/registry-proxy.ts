/**
 * Registry proxy: the way out of a sandbox in which npm runs. It leads to the registries and
 * nowhere else, reads only, and ends when it is cut.
 */
import type { Socket } from "node:net";
import { ConsentError, createConsentGate, isHttpAction } from "@acp/core";
import type { Layer } from "@acp/core";
import { createHttpConsentProxy } from "@acp/proxy-http";

/** A way to registries. */
export interface RegistryProxy {
  /** Takes a connection from inside. */
  take(socket: Socket): void;
  /** Closes every connection; no other is taken from now on. */
  cut(): Promise<void>;
  /** Hosts that were asked for and are not registries, a few at most. */
  refusedHosts(): readonly string[];
}

const REFUSED_MAX = 8;
const READING = ["GET", "HEAD", "CONNECT"];

/**
 * @param hosts - `host:port` of each registry; one on this machine or in the own network is reached
 * too, since the person named it.
 */
export function makeRegistryProxy(hosts: readonly string[]): RegistryProxy {
  const refused = new Set<string>();
  const gate = createConsentGate({
    layers: [
      onlyRegistries(hosts, (host) => void (refused.size < REFUSED_MAX && refused.add(host))),
    ],
    channel: {
      name: "none",
      deliver: () =>
        Promise.reject(new ConsentError("channel_unavailable", "Cannot ask: nobody is asked here")),
    },
    // What was installed is in the lockfile, whole, and the pin is logged.
    audit: { append: () => Promise.resolve({ seq: 0, hash: "sha256:0" }) },
  });
  const proxy = createHttpConsentProxy({ gate, privateHosts: hosts, requireSni: true });
  return {
    take: (socket) => proxy.attach(socket, { agent: { id: "npm" } }),
    async cut() {
      await proxy.close();
      await gate[Symbol.asyncDispose]();
    },
    refusedHosts: () => [...refused],
  };
}

function onlyRegistries(hosts: readonly string[], onRefused: (host: string) => void): Layer {
  return {
    name: "registries",
    judge(action) {
      if (!isHttpAction(action)) return undefined;
      const { host, port, method } = action.meta;
      const asked = `${host}:${port}`;
      if (hosts.includes(asked) && READING.includes(method))
        return { effect: "allow", ruleId: "registry", reason: "a registry, for reading" };
      if (!hosts.includes(asked)) onRefused(asked);
      return {
        effect: "deny",
        ruleId: "elsewhere",
        reason: "npm reads from its registries, and does nothing else",
      };
    },
  };
}

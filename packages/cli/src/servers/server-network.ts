/**
 * Server network: what servers in sandboxes reach. Each asks the HTTP proxy under a name of its
 * own, which no agent can have; its list decides, rules of the policy that deny or ask still count,
 * and everything stands in the log. No secret of the vault goes where a server asks.
 */
import type { Socket } from "node:net";
import {
  type Action,
  isHttpAction,
  type Layer,
  normalizeHost,
  parseAuthority,
  type Ruling,
} from "@acp/core";
import type { HttpConsentProxy } from "@acp/proxy-http";
import { makeHttpProxy } from "../http/open-http-proxy.js";
import type { HttpProxyParts } from "../http/open-http-proxy.js";
import { serverAgentId } from "./agent-id.js";

/** Of a host that is listed without one. */
const PORTS = [443, 80];
const HAS_PORT = /^(?:\[[^\]]*\]|[^:]*):[0-9]+$/;

/** Which hosts each server reaches, by its name. */
export type ServerHosts = ReadonlyMap<string, readonly string[]>;

/** The layer that says so. */
export function serverHosts(hosts: ServerHosts): Layer {
  const known = new Map(
    [...hosts].map(([name, list]) => [serverAgentId(name), new Set(list.flatMap(spell))]),
  );
  return {
    name: "server-network",
    judge(action: Action, { agent }): Ruling {
      const listed =
        isHttpAction(action) &&
        known.get(agent.id)?.has(`${action.meta.host}:${action.meta.port}`) === true;
      return {
        effect: listed ? "allow" : "deny",
        ruleId: "server_network",
        reason: listed
          ? "the host is in the server's list"
          : 'the host is not in "network" of this server in config.yml',
      };
    },
  };
}

/** As actions say it. */
function spell(entry: string): readonly string[] {
  if (!HAS_PORT.test(entry)) return PORTS.map((port) => `${normalizeHost(entry)}:${port}`);
  const { host, port } = parseAuthority(entry);
  return [`${host}:${port}`];
}

/** The network of the servers of one gate. */
export interface ServerNetwork extends AsyncDisposable {
  /** Takes a connection that a server made. */
  attach(socket: Socket, server: string): void;
}

/** What it is made of. */
export interface ServerNetworkParts extends Omit<HttpProxyParts, "agent" | "internal"> {
  readonly hosts: ServerHosts;
  /** Whose servers they are: a pause of that agent is theirs, too. */
  readonly agentId: string;
  /** The mark of their sandboxes in the log. */
  readonly isolation: string;
}

/** Opens it. What an agent reaches in this process, a server does not. */
export async function openServerNetwork({
  hosts,
  agentId,
  isolation,
  inUse,
  ...parts
}: ServerNetworkParts): Promise<ServerNetwork> {
  const gate = inUse.gateFor(serverHosts(hosts), isolation);
  const proxy: HttpConsentProxy = await makeHttpProxy({
    ...parts,
    inUse: { ...inUse, gate },
    agent: undefined,
  });
  return {
    attach: (socket, server) =>
      proxy.attach(socket, { agent: { id: serverAgentId(server), parents: [agentId] } }),
    [Symbol.asyncDispose]: () => proxy.close(),
  };
}

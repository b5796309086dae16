/**
 * Config, proxy: the MCP servers to stand in front of, and the HTTP proxy. Format: spec/home.md §2.
 */
import type { HostCover } from "@acp/core";
import {
  type Spot,
  invalid,
  readList,
  readMap,
  readNumber,
  readOneOf,
  readText,
} from "@acp/core/yaml";
import { readHosts } from "./config-hosts.js";
import { type UpstreamServer, readServers } from "./config-servers.js";
import { ifGiven, readPath, readSecret, required } from "./config-values.js";
import type { PathOrigins } from "./paths.js";

/** An agent that authenticates to the HTTP proxy. */
export interface HttpAgentConfig {
  /** The agent's ID, which is also the username of its proxy credentials. */
  readonly id: string;
  /** The token of its proxy credentials, plain or as `encrypted:<…>`. */
  readonly token: string;
  /** Path of the policy that judges this agent. Absent: the policy for all agents. */
  readonly policyPath?: string;
}

/** Settings of the HTTP proxy: the section `proxy.http`. Format: spec/home.md §2. */
export interface HttpProxyConfig {
  /** Agents with credentials. Absent: clients need no credentials. */
  readonly agents?: readonly HttpAgentConfig[];
  /**
   * Whether the header `x-agent-id` names the part of an agent that makes a request. Default:
   * `none`.
   */
  readonly attribution?: "none" | "x-agent-id";
  /** Whether a tunnel must be TLS that names its host (SNI). Default: false. */
  readonly requireSni?: boolean;
  /** What an approval of a request may also cover. Default: `host`. */
  readonly hostApproval?: HostCover;
  /** Hosts that may switch to another protocol, such as WebSocket. Default: none. */
  readonly upgradeHosts?: readonly string[];
}

/** Settings of the proxies: the section `proxy`. Format: spec/home.md §2. */
export interface ProxyConfig {
  /** Port of the MCP listener. Not supported yet. */
  readonly port?: number;
  /** Port of the HTTP proxy on 127.0.0.1. */
  readonly httpPort?: number;
  /**
   * Hosts on this machine and its own network that the HTTP proxy may reach, as `host` or
   * `host:port`.
   */
  readonly privateHosts?: readonly string[];
  /** Settings of the HTTP proxy. */
  readonly http?: HttpProxyConfig;
  /** MCP servers behind the MCP proxy. */
  readonly servers: readonly UpstreamServer[];
}

const PORT = { min: 1, max: 65_535, whole: true } as const;
const ID = /^[!-9;-~]{1,128}$/;

/** Reads it; what cannot be used yet is added to the list. */
export function readProxy(
  spot: Spot | undefined,
  origins: PathOrigins,
  unsupported: string[],
): ProxyConfig {
  if (spot === undefined) return { servers: [] };
  const entries = readMap(spot, ["port", "http_port", "private_hosts", "http", "upstream_servers"]);
  const port = ifGiven(entries.get("port"), (each) => readNumber(each, PORT));
  const httpPort = ifGiven(entries.get("http_port"), (each) => readNumber(each, PORT));
  const privateHosts = ifGiven(entries.get("private_hosts"), readHosts);
  const http = ifGiven(entries.get("http"), (each) => readHttp(each, origins));
  if (port !== undefined) unsupported.push("proxy.port");
  const servers =
    ifGiven(entries.get("upstream_servers"), (each) => readServers(each, origins)) ?? [];
  for (const [index, server] of servers.entries())
    if ("url" in server) unsupported.push(`proxy.upstream_servers[${index}].url`);
  return {
    ...(port === undefined ? {} : { port }),
    ...(httpPort === undefined ? {} : { httpPort }),
    ...(privateHosts === undefined ? {} : { privateHosts }),
    ...(http === undefined ? {} : { http }),
    servers,
  };
}

function readHttp(spot: Spot, origins: PathOrigins): HttpProxyConfig {
  const entries = readMap(spot, [
    "agents",
    "attribution",
    "require_sni",
    "upgrade_hosts",
    "host_approval",
  ]);
  const agents = ifGiven(entries.get("agents"), (each) => readAgents(each, origins));
  const attribution = ifGiven(entries.get("attribution"), (each) =>
    readOneOf(each, ["none", "x-agent-id"]),
  );
  const requireSni = ifGiven(entries.get("require_sni"), readFlag);
  const upgradeHosts = ifGiven(entries.get("upgrade_hosts"), readHosts);
  const hostApproval = ifGiven(entries.get("host_approval"), (each) =>
    readOneOf(each, ["host", "site"]),
  );
  return {
    ...(agents === undefined ? {} : { agents }),
    ...(attribution === undefined ? {} : { attribution }),
    ...(requireSni === undefined ? {} : { requireSni }),
    ...(upgradeHosts === undefined ? {} : { upgradeHosts }),
    ...(hostApproval === undefined ? {} : { hostApproval }),
  };
}

function readAgents(spot: Spot, origins: PathOrigins): readonly HttpAgentConfig[] {
  const agents = readList(spot);
  // Nobody, or everybody without credentials? Neither is written.
  if (agents.length === 0) throw invalid(spot, "there is no agent in it");
  const ids = new Set<string>();
  return agents.map((each) => {
    const entries = readMap(each, ["id", "token", "policy"]);
    const idSpot = required(each, entries, "id");
    const id = readText(idSpot, 128);
    if (!ID.test(id))
      throw invalid(idSpot, "an agent's id has printable ASCII characters, no blank and no colon");
    if (ids.has(id)) throw invalid(idSpot, `another agent has the id "${id}"`);
    ids.add(id);
    const policyPath = ifGiven(entries.get("policy"), (at) => readPath(at, origins));
    return {
      id,
      token: readSecret(required(each, entries, "token")),
      ...(policyPath === undefined ? {} : { policyPath }),
    };
  });
}

function readFlag(spot: Spot): boolean {
  if (typeof spot.value !== "boolean") throw invalid(spot, "expected true or false");
  return spot.value;
}

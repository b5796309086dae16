/**
 * Config, proxy: the MCP servers to stand in front of, and the HTTP proxy. Format: spec/home.md §2.
 */
import type { HostCover } from "@acp/core";
import { invalid } from "@acp/core/yaml";
import {
  below,
  flag,
  list,
  number,
  optional,
  refined,
  required,
  section,
  type Shape,
  textLike,
  word,
} from "@acp/core/unstable";
import { servers, type UpstreamServer } from "./config-servers.js";
import { hosts, pathShape, PORT, secret } from "./config-values.js";
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
  /** Port of the MCP listener on 127.0.0.1. */
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

const agent: Shape<HttpAgentConfig, PathOrigins> = section({
  id: required(
    "id",
    textLike(/^[!-9;-~]{1,128}$/, {
      charsMax: 128,
      problem: "an agent's ID consists of printable ASCII characters, without spaces and colons",
    }),
    "The agent's ID, which is also the username of its proxy credentials.",
  ),
  token: required("token", secret, "The token of its credentials, plain or as encrypted:<…>."),
  policyPath: optional(
    "policy",
    pathShape,
    "Policy that judges this agent instead of the main one.",
  ),
});

const agents: Shape<readonly HttpAgentConfig[], PathOrigins> = refined(
  // Nobody, or everybody without credentials? Neither is written.
  list(agent, { min: 1, problem: "it lists no agent" }),
  (each, spot) => {
    const ids = new Set<string>();
    for (const [at, { id }] of each.entries()) {
      if (ids.has(id))
        throw invalid(below(below(spot, at), "id"), `another agent has the id "${id}"`);
      ids.add(id);
    }
    return each;
  },
);

const http: Shape<HttpProxyConfig, PathOrigins> = section({
  agents: optional("agents", agents, "Agents with credentials. Default: nobody needs credentials."),
  attribution: optional(
    "attribution",
    word(["none", "x-agent-id"]),
    "Whether the header x-agent-id names the part of an agent that makes a request. Default: none.",
  ),
  requireSni: optional(
    "require_sni",
    flag,
    "Whether a tunnel must be TLS that names its host. Default: false.",
  ),
  upgradeHosts: optional(
    "upgrade_hosts",
    hosts,
    "Hosts that may switch to another protocol, such as WebSocket. Default: none.",
  ),
  hostApproval: optional(
    "host_approval",
    word(["host", "site"]),
    "What an approval of a request may also cover. Default: host.",
  ),
});

/** The section `proxy`. */
export const proxy: Shape<
  Omit<ProxyConfig, "servers"> & Partial<Pick<ProxyConfig, "servers">>,
  PathOrigins
> = section({
  port: optional("port", number(PORT), "Port of the MCP listener on 127.0.0.1. Default: 8443."),
  httpPort: optional("http_port", number(PORT), "Port of the HTTP proxy on 127.0.0.1."),
  privateHosts: optional(
    "private_hosts",
    hosts,
    "Hosts of this machine and its own network that the HTTP proxy may reach. Default: none.",
  ),
  http: optional("http", http, "The HTTP proxy."),
  servers: optional("upstream_servers", servers, "MCP servers behind the MCP proxy."),
});

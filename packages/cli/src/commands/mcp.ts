/**
 * `acp mcp`: a gate between an MCP client, which started this process as its server, and the real servers. Standard output is MCP's.
 * Where config.yml has a port for it, the HTTP proxy runs beside it, behind the same gate.
 */
import type { Agent } from "@acp/core";
import { createMcpProxy } from "@acp/proxy-mcp";
import type { ProxyExit } from "@acp/proxy-mcp";
import type { Invocation, Run } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { ownHomePath } from "../home-source.js";
import { openHttpBeside } from "../http/open-http-proxy.js";
import { hostOffers } from "../http/settings.js";
import { lookAtAgent } from "../mcp/agent-process.js";
import { chooseServers, openServers, readHomeConfig } from "../mcp/config.js";
import { openHomeKeys } from "../mcp/home-keys.js";
import { makeHome, withGate } from "../with-gate.js";

/** Who acts, where nobody says so: a client does not give its name before it has started us. */
const AGENT_ID = "mcp-client";

/** Runs the command. */
export const mcp: Run = async (invocation) => {
  const { io, print } = invocation;
  const signal = io.onStop();
  const home = await makeHome(ownHomePath(invocation));
  const source = await readHomeConfig(home, invocation);
  const servers = chooseServers(source, invocation);
  const host = await lookAtAgent(io.ppid);
  const agent = agentOf(invocation, host.command);
  const homeKeys = await openHomeKeys(home, invocation);
  const upstreams = await openServers(servers, { file: source.file, keys: homeKeys.keys, env: io.env });
  const hasHttp = source.config?.httpPort !== undefined;
  const shared = { invocation, signal, source, homeKeys };
  const common = { ...shared, home, host, agentId: agent.id };
  const forGate = hasHttp ? { ways: ["mcp", "http"] as const, defaultOffers: hostOffers(io.env) } : { ways: ["mcp"] as const };
  return withGate({ ...common, ...forGate }, async (inUse) => {
    await using _http = await openHttpBeside({ ...shared, inUse, agent });
    const proxy = createMcpProxy({
      gate: inUse.gate,
      agent,
      upstreams,
      input: io.stdin,
      output: io.stdout,
      log: (line) => print.notice(line),
      signal,
      ...(homeKeys.masker !== undefined && { masker: homeKeys.masker }),
    });
    const { reason } = await proxy.done;
    // A client that keeps our input open must not keep this process.
    io.stdin.destroy();
    return EXITS[reason];
  });
};

const EXITS: Readonly<Record<ProxyExit["reason"], Exit>> = { client_closed: "ok", closed: "ok", upstream_failed: "failed" };

function agentOf({ values }: Invocation, command: string | undefined): Agent {
  return { id: values.agent ?? AGENT_ID, ...(command !== undefined && { command }) };
}

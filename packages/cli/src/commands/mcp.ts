/**
 * `acp mcp`: a gate between an MCP client, which started this process as its server, and the real servers. Standard output is MCP's.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createTerminalChannel } from "@acp/channel-terminal";
import { ConsentError, createConsentGate } from "@acp/core";
import type { Agent } from "@acp/core";
import { openHome } from "@acp/home";
import type { Home } from "@acp/home";
import { createMcpProxy } from "@acp/proxy-mcp";
import type { ProxyExit } from "@acp/proxy-mcp";
import type { Invocation, Run } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { homePath } from "../home-source.js";
import { lookAtAgent } from "../mcp/agent-process.js";
import { chooseServers, configWarnings, gateOptionsOf, openServers, readHomeConfig } from "../mcp/config.js";
import { openHomeKeys } from "../mcp/home-keys.js";
import { checkWitnesses, lookAfterLogs } from "../mcp/home-logs.js";
import { createNotices, sayHow } from "../mcp/notices.js";
import { openPolicyInForce } from "../mcp/policy-in-force.js";
import { heedRotation } from "../mcp/rotated-keys.js";
import { removeStaleSockets } from "../mcp/stale-sockets.js";
import { openHomeAudit } from "../open-audit.js";
import { showsColour } from "../printer.js";
import { runDirectory } from "../run-directory.js";

/** Who acts, where nobody says so: a client does not give its name before it has started us. */
const AGENT_ID = "mcp-client";

/** Runs the command. */
export const mcp: Run = async (invocation) => {
  const { io, print, flags } = invocation;
  const signal = io.onStop();
  const home = await makeHome(homePath(invocation));
  const source = await readHomeConfig(home, invocation);
  const servers = chooseServers(source, invocation);
  const host = await lookAtAgent(io.ppid);
  const agent = agentOf(invocation, host.command);

  const { keys, gateOptions } = await openHomeKeys(home, invocation);
  const upstreams = await openServers(servers, { file: source.file, keys, env: io.env });
  // Questions live in the process that asks them: of those that an earlier one left open none can be answered any more.
  const recover = { pendingIds: new Set<string>() };
  const settings = { config: source.config?.audit, recover };
  await checkWitnesses(home, settings);
  await using audit = await openHomeAudit(home, settings);
  const notices = createNotices({ print, audit, agent: agent.id });
  await sayHow(notices, host);
  await using _logs = await lookAfterLogs({ home, audit, settings, notices, print });
  if (keys === undefined) await notices.say("unsigned", "No keys: answers are not signed and there is no vault; make them with acp init");
  for (const warning of configWarnings(source)) notices.tell("config_warning", warning);
  const policy = await openPolicyInForce({
    file: source.policyFile,
    mustExist: source.isPolicyNamed,
    home: io.userHome,
    cwd: io.cwd,
    notices,
    signal,
  });

  const directory = runDirectory(home.dir);
  await removeStaleSockets(directory, Date.now());
  await using channel = createTerminalChannel({
    terminal: flags.has("tty") ? "/dev/tty" : false,
    socketPath: join(directory, `${io.pid}.sock`),
    color: showsColour({ isTTY: true, write: () => true }, io.env),
    warn: (text) => notices.tell("socket_failed", text),
  });
  await using gate = createConsentGate({
    policy,
    channel,
    audit,
    ...heedRotation({ home, keys, gateOptions, notices }),
    ...gateOptionsOf(source),
  });
  const proxy = createMcpProxy({ gate, agent, upstreams, input: io.stdin, output: io.stdout, log: (line) => print.notice(line), signal });
  const { reason } = await proxy.done;
  // A client that keeps our input open must not keep this process.
  io.stdin.destroy();
  return EXITS[reason];
};

const EXITS: Readonly<Record<ProxyExit["reason"], Exit>> = { client_closed: "ok", closed: "ok", upstream_failed: "failed" };

/** A gate works without `acp init`: the directory is all that it needs. */
async function makeHome(directory: string): Promise<Home> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new ConsentError("home_invalid", `Cannot make home "${directory}": ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  });
  return openHome(directory);
}

function agentOf({ values }: Invocation, command: string | undefined): Agent {
  return { id: values.agent ?? AGENT_ID, ...(command !== undefined && { command }) };
}

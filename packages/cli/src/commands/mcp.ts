/**
 * `acp mcp`: a gate between an MCP client, which started this process as its server, and the real servers. Standard output is MCP's.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { RecoverOptions } from "@acp/audit";
import { createTerminalChannel } from "@acp/channel-terminal";
import type { TerminalChannel } from "@acp/channel-terminal";
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
import { openChannels } from "../mcp/channels.js";
import { chooseServers, configWarnings, gateOptionsOf, openServers, readHomeConfig } from "../mcp/config.js";
import { openGateSink } from "../mcp/gate-sink.js";
import { openHomeKeys } from "../mcp/home-keys.js";
import { checkWitnesses, lookAfterLogs } from "../mcp/home-logs.js";
import { openHomeStore } from "../mcp/home-store.js";
import { createNotices, sayHow } from "../mcp/notices.js";
import type { Notices } from "../mcp/notices.js";
import { findEnded } from "../mcp/other-logs.js";
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
  const { io, print } = invocation;
  const signal = io.onStop();
  const home = await makeHome(homePath(invocation));
  const source = await readHomeConfig(home, invocation);
  const servers = chooseServers(source, invocation);
  const host = await lookAtAgent(io.ppid);
  const agent = agentOf(invocation, host.command);

  const { keys, gateOptions, masker } = await openHomeKeys(home, invocation);
  const upstreams = await openServers(servers, { file: source.file, keys, env: io.env });
  // Before the logs: what an earlier process left open and this or another one shows again has not ended.
  await using kept = await openHomeStore(home);
  const recover: RecoverOptions = { pendingIds: kept.heldOpen, endedElsewhere: (ids) => findEnded(home, ids) };
  const settings = { config: source.config?.audit, recover };
  await checkWitnesses(home, settings);
  await using audit = await openHomeAudit(home, settings);
  const notices = createNotices({ print, audit, agent: agent.id });
  await sayHow(notices, host);
  await using _logs = await lookAfterLogs({ home, audit, settings, notices, print });
  await using written = await openGateSink(audit, settings.config, print);
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

  const makeTerminal = await terminalMaker(home, invocation, notices);
  await using channels = await openChannels({ source, keys, claims: kept.store.claims, notices, makeTerminal });
  await using gate = createConsentGate({
    policy,
    channel: channels.channel,
    audit: written.sink,
    store: kept.store,
    ...heedRotation({ home, keys, gateOptions, notices }),
    ...gateOptionsOf(source),
  });
  const shownAgain = await gate.resume();
  if (shownAgain > 0) print.notice(`${shownAgain} questions that an earlier gate left open are asked again`);
  const proxy = createMcpProxy({
    gate,
    agent,
    upstreams,
    input: io.stdin,
    output: io.stdout,
    log: (line) => print.notice(line),
    signal,
    ...(masker !== undefined && { masker }),
  });
  const { reason } = await proxy.done;
  // A client that keeps our input open must not keep this process.
  io.stdin.destroy();
  return EXITS[reason];
};

/** Makes the terminal's channel with its approve socket; sockets of dead gates are removed first. */
async function terminalMaker(home: Home, { io, flags }: Invocation, notices: Notices): Promise<() => TerminalChannel> {
  const directory = runDirectory(home.dir);
  await removeStaleSockets(directory, Date.now());
  return () =>
    createTerminalChannel({
      terminal: flags.has("tty") ? "/dev/tty" : false,
      socketPath: join(directory, `${io.pid}.sock`),
      color: showsColour({ isTTY: true, write: () => true }, io.env),
      warn: (text) => notices.tell("socket_failed", text),
    });
}

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

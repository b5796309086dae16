/**
 * `acp run`: a gate with its proxies, and one command in a sandbox whose only way out they are. The exit code is the command's.
 */
import { join } from "node:path";
import { ConsentError, isConsentError } from "@acp/core";
import type { Agent } from "@acp/core";
import { reachesLevel } from "@acp/sandbox-linux";
import { DEFAULT_CONFIG, channelsOf } from "@acp/home";
import type { Home } from "@acp/home";
import type { Invocation, Run } from "../command.js";
import { terminalOf } from "../hidden-prompt.js";
import { ownHomePath } from "../home-source.js";
import { hostOffers, modelOffers } from "../http/settings.js";
import { leadingWords, runsAsRoot } from "../mcp/agent-process.js";
import { openServers, readHomeConfig } from "../mcp/config.js";
import type { HomeConfig } from "../mcp/config.js";
import { openHomeKeys } from "../mcp/home-keys.js";
import { checkNamed } from "../run/agent-environment.js";
import { chooseSandbox } from "../run/choose-sandbox.js";
import { findOpenClawLocations } from "../run/openclaw-user.js";
import { checkHostPorts } from "../run/host-ports.js";
import { outsideServers } from "../run/outside-servers.js";
import { modelTunnels } from "../run/model-hosts.js";
import { ownPackages } from "../run/own-packages.js";
import { ownPaths } from "../run/own-paths.js";
import { passSignals } from "../run/pass-signals.js";
import { readPlan } from "../run/plan.js";
import { checkProgramInside } from "../run/program-inside.js";
import { runAgent } from "../run/run-agent.js";
import { makeSandboxes } from "../run/sandboxes.js";
import { warningOf } from "../run/warning.js";
import { makeHome, withGate } from "../with-gate.js";

/** Who acts, where nobody says so. */
const AGENT_ID = "agent";

/** Runs the command. */
export const run: Run = async (invocation) => {
  const { io, values } = invocation;
  const plan = readPlan(invocation);
  checkNamed(plan.env, io.env);
  checkProgramInside({ plan, io });
  const tunnels = modelTunnels({ plan, io });
  const signals = passSignals(io);
  const { openclawUser } = plan;
  const directory = openclawUser === undefined ? ownHomePath(invocation) : (await findOpenClawLocations(openclawUser)).dir;
  const home = await makeHome(directory);
  const source = await readHomeConfig(home, invocation);
  const servers = source.config?.servers ?? [];
  if (plan.speaksMcp && servers.length === 0)
    throw new ConsentError(
      "config_invalid",
      `Cannot speak MCP: there is no MCP server; add one to proxy.upstream_servers in ${source.file}`,
    );
  const hidden = await ownPaths({ home, source, invocation });
  await checkHostPorts(plan.hostPorts, ownPorts(source));
  const sandboxes = makeSandboxes(plan, { hidden, programs: ownPackages(), onNotice: (text) => invocation.print.notice(text) });
  const chosen = await chooseSandbox(sandboxes, plan.requiredLevel).catch((error: unknown) => {
    throw hintAtWorkspace(error, invocation);
  });
  // The terminal is still ours; the command gets it afterwards.
  const homeKeys = await openHomeKeys(home, invocation, () => terminalOf(io));
  const opened = await openServers(servers, { file: source.file, keys: homeKeys.keys, env: {} });
  const workspaces = plan.workspace === undefined ? [] : [plan.workspace.path];
  const upstreams = await outsideServers(opened, { homeDir: home.dir, workspaces, io });
  const agent: Agent = { id: values.agent ?? AGENT_ID, command: leadingWords(plan.argv) };
  const over = new AbortController();
  // Root lends itself to no agent, and what holds one hides the home.
  const isHeld = reachesLevel(chosen.report.level, "partial") || runsAsRoot();
  const host = { sharesUid: !isHeld, sandbox: chosen.report };
  const gate = { invocation, signal: over.signal, home, source, homeKeys, host, agentId: agent.id };
  try {
    return await withGate({ ...gate, ways: ["http", "mcp"], defaultOffers: modelOffers(hostOffers(io.env, source), tunnels) }, (inUse) => {
      tell(invocation, home, source);
      if (!invocation.print.json) for (const line of warningOf(host, io)) io.stderr.write(`${line}\n`);
      return runAgent({ invocation, home, plan, chosen, source, homeKeys, upstreams, agent, tunnels, inUse, signals });
    });
  } finally {
    over.abort(new Error("the command has ended"));
  }
};

/** Where servers of this home listen. */
function ownPorts({ config }: HomeConfig): readonly number[] {
  return [config?.port, config?.httpPort, config?.webhook?.listen?.port].filter((port) => port !== undefined);
}

/** Who named no workspace may not know that there is one. */
function hintAtWorkspace(error: unknown, { io, values }: Invocation): unknown {
  if (!isConsentError(error) || values.workspace !== undefined || !error.message.startsWith(`Cannot show "${io.cwd}" `)) return error;
  const hint = "start acp run in a project's directory, or name one with --workspace";
  return new ConsentError(error.code, `${error.message}; ${hint}`, { cause: error });
}

/** Where questions are answered: never where the agent could. */
function tell({ print, io }: Invocation, { dir }: Home, { config }: HomeConfig): void {
  const approve = `acp approve${dir === join(io.userHome, ".acp") ? "" : ` --home ${dir}`} in another terminal`;
  const channels = channelsOf((config ?? DEFAULT_CONFIG).stages).map((name) => (name === "terminal" ? approve : name));
  print.notice(`Questions are answered by ${channels.join(" or ")}, never here`);
}

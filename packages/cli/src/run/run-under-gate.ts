/**
 * Run under a gate: opens the gate that the agent passes through while its sandbox is being made,
 * and lets the agent go when both are there.
 */
import { join } from "node:path";
import type { Agent, SandboxReport } from "@acp/core";
import { channelsOf, DEFAULT_CONFIG } from "@acp/home";
import type { Home } from "@acp/home";
import { reachesLevel } from "@acp/sandbox-linux";
import type { HeldAgent } from "@acp/sandbox-linux";
import type { Invocation, Outcome } from "../command.js";
import { terminalOf } from "../home/hidden-prompt.js";
import { hostOffers, modelOffers } from "../http/settings.js";
import { leadingWords, runsAsRoot } from "../gate/agent-process.js";
import { openEnvironments } from "../gate/config.js";
import type { HomeConfig } from "../gate/config.js";
import { openHomeKeys } from "../gate/home-keys.js";
import type { AgentHost } from "../gate/notices.js";
import { withGate } from "../gate/with-gate.js";
import { makeIndexWhole } from "../logs/index-rebuild.js";
import { createPercent } from "../percent.js";
import type { PassedSignals } from "./pass-signals.js";
import type { RunPlan } from "./plan.js";
import type { OpenedReview } from "../review/store.js";
import { runAgent } from "./run-agent.js";
import type { RunAgentParts } from "./run-agent.js";
import { warningOf } from "./warning.js";

/** What is run, and from which home. */
export interface UnderGateParts {
  readonly invocation: Invocation;
  readonly plan: RunPlan;
  readonly signals: PassedSignals;
  readonly home: Home;
  readonly source: HomeConfig;
  readonly servers: NonNullable<HomeConfig["config"]>["servers"];
  /** What stays invisible to everything in a sandbox. */
  readonly hidden: readonly string[];
  /** What runs outside, which nothing in a sandbox may change. */
  readonly programs: readonly string[];
  /** Where its model is. */
  readonly tunnels: RunAgentParts["tunnels"];
  /** The agent, when its sandbox stands. Ended by the caller where it was not let go. */
  readonly holding: Promise<HeldAgent>;
  /** Where its workspace is an overlay. */
  readonly review: OpenedReview | undefined;
  readonly portGuard: RunAgentParts["portGuard"];
}

/** Who acts, where nobody says so. */
const AGENT_ID = "agent";

/** Root lends itself to no agent, and what holds one hides the home. */
function hostOf(report: SandboxReport): AgentHost {
  return { sharesUid: !reachesLevel(report.level, "partial") && !runsAsRoot(), sandbox: report };
}

/**
 * Runs it to its end.
 *
 * @throws ConsentError what a home throws that does not load, what holding the agent and {@link
 *   runAgent} throw.
 */
export async function runUnderGate(parts: UnderGateParts): Promise<Outcome> {
  const { invocation, plan, home, source, tunnels, holding, signals } = parts;
  const { io, values } = invocation;
  await makeIndex(invocation, home, signals.stopped);
  // Nobody is asked for a passphrase before it is known that the command can run. The terminal is
  // still ours; the command gets it afterwards.
  const homeKeys = await openHomeKeys(home, invocation, () => holding.then(() => terminalOf(io)));
  const servers = await openEnvironments(parts.servers, {
    file: source.file,
    keys: homeKeys.keys,
    env: {},
  });
  const agent: Agent = { id: values.agent ?? AGENT_ID, command: startedAs(plan) };
  const over = new AbortController();
  const host = holding.then(({ report }) => hostOf(report));
  host.catch(() => {}); // heard of by the gate, unless something else fails first
  const gate = { invocation, signal: over.signal, home, source, homeKeys, host, agentId: agent.id };
  try {
    return await withGate(
      {
        ...gate,
        ways: ["http", "mcp"],
        defaultOffers: modelOffers(hostOffers(io.env, source), tunnels),
      },
      async (inUse) => {
        const held = await holding;
        tell(invocation, home, source);
        if (!invocation.print.json)
          for (const line of warningOf(await host, io)) io.stderr.write(`${line}\n`);
        return runAgent({ ...parts, held, homeKeys, servers, agent, inUse });
      },
    );
  } finally {
    over.abort(new Error("the command has ended"));
  }
}

/** Nothing runs yet: a person sees how far it is, and may end it. */
async function makeIndex(invocation: Invocation, home: Home, signal: AbortSignal): Promise<void> {
  const percent = createPercent(invocation);
  await makeIndexWhole({
    home,
    signal,
    say: (text) => invocation.print.notice(text),
    onPercent: (done) => percent.show("The index of the audit logs", done),
  }).finally(percent.clear);
}

/** For the person who is asked: what the agent is, and what it reaches past the gate. */
function startedAs({ argv, hostPorts }: RunPlan): string {
  const command = leadingWords(argv);
  return hostPorts.length === 0
    ? command
    : `acp run --host-port ${hostPorts.join(",")} -- ${command}`;
}

/** Where questions are answered: never where the agent could. */
function tell({ print, io }: Invocation, { dir }: Home, { config }: HomeConfig): void {
  const approve = `acp approve${dir === join(io.userHome, ".acp") ? "" : ` --home ${dir}`} in another terminal`;
  const channels = channelsOf((config ?? DEFAULT_CONFIG).stages).map((name) =>
    name === "terminal" ? approve : name,
  );
  print.notice(`Questions are answered by ${channels.join(" or ")}, never here`);
}

/**
 * Run under a gate: opens the gate that the agent passes through in this process, while its sandbox
 * is being made, and lets the agent go when both are there.
 */
import type { HttpAction } from "@acp/core";
import type { Home } from "@acp/home";
import type { HeldAgent } from "@acp/sandbox-linux";
import type { Invocation, Outcome } from "../command.js";
import { terminalOf } from "../home/hidden-prompt.js";
import { hostOffers, modelOffers } from "../http/settings.js";
import { openEnvironments } from "../gate/config.js";
import type { HomeConfig } from "../gate/config.js";
import { openHomeKeys } from "../gate/home-keys.js";
import { withGate } from "../gate/with-gate.js";
import { makeIndexWhole } from "../logs/index-rebuild.js";
import { createPercent } from "../percent.js";
import { openRunGate } from "./open-run-gate.js";
import type { PassedSignals } from "./pass-signals.js";
import type { RunPlan } from "./plan.js";
import type { OpenedReview } from "../review/store.js";
import { runAgent } from "./run-agent.js";
import type { RunAgentParts } from "./run-agent.js";
import { agentOfRun, hostOfRun, tellApprovers } from "./run-gate.js";
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
  readonly tunnels: readonly HttpAction[];
  /** The agent, when its sandbox stands. Ended by the caller where it was not let go. */
  readonly holding: Promise<HeldAgent>;
  /** Where its workspace is an overlay. */
  readonly review: OpenedReview | undefined;
  readonly portGuard: RunAgentParts["portGuard"];
}

/**
 * Runs it to its end.
 *
 * @throws ConsentError what a home throws that does not load, what holding the agent and {@link
 *   runAgent} throw.
 */
export async function runUnderGate(parts: UnderGateParts): Promise<Outcome> {
  const { invocation, plan, home, source, tunnels, holding, signals } = parts;
  const { io } = invocation;
  await makeIndex(invocation, home, signals.stopped);
  // Nobody is asked for a passphrase before it is known that the command can run. The terminal is
  // still ours; the command gets it afterwards.
  const homeKeys = await openHomeKeys(home, invocation, () => holding.then(() => terminalOf(io)));
  const servers = await openEnvironments(parts.servers, {
    file: source.file,
    keys: homeKeys.keys,
    env: {},
  });
  const agent = agentOfRun(invocation, plan);
  const over = new AbortController();
  const host = holding.then(({ report }) => hostOfRun(report));
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
        tellApprovers(invocation, home, source);
        if (!invocation.print.json)
          for (const line of warningOf(await host, io)) io.stderr.write(`${line}\n`);
        await using opened = await openRunGate({
          ...parts,
          homeKeys,
          servers,
          agent,
          inUse,
          report: held.report,
          view: held.view,
          signal: parts.signals.stopped,
          isQuiet: io.stderr.isTTY,
        });
        return await runAgent({ ...parts, held, servers, agent }, opened);
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

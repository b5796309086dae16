/**
 * `acp run`: one command in a sandbox whose only way out is a gate, which the resident of the home
 * has, or with `--alone` this process. The exit code is the command's.
 */
import { ConsentError, isConsentError } from "@acp/core";
import type { Home } from "@acp/home";
import type { Invocation, Outcome, Run } from "../command.js";
import { ownHomePath } from "../home/home-source.js";
import { makeHome } from "../home/make-home.js";
import { isAlone } from "../is-alone.js";
import { readHomeConfig } from "../gate/config.js";
import type { HomeConfig } from "../gate/config.js";
import { checkNamed } from "../run/agent-environment.js";
import { chooseSandbox } from "../run/choose-sandbox.js";
import { codeOfSignal } from "../run/exit-code.js";
import { holdAgent } from "../run/hold-agent.js";
import type { HoldAgentParts } from "../run/hold-agent.js";
import { checkHostPorts, makePortGuard } from "../run/port-guard.js";
import { readKnownPlaces } from "../run/known-places.js";
import { modelTunnels } from "../run/model-hosts.js";
import { findOpenClawLocations } from "../run/openclaw-user.js";
import { ownPackages } from "../run/own-packages.js";
import { ownPaths } from "../run/own-paths.js";
import { passSignals } from "../run/pass-signals.js";
import { readPlan } from "../run/plan.js";
import type { RunPlan } from "../run/plan.js";
import { namedDirectory } from "../home/named-directory.js";
import { checkProgramInside } from "../run/program-inside.js";
import { makeSandboxes } from "../run/sandboxes.js";
import { checkAgentId } from "../servers/agent-id.js";
import { endUnwritten, openReview, sweepReviews } from "../review/store.js";
import type { OpenedReview } from "../review/store.js";

/** Runs the command. */
export const run: Run = async (invocation) => {
  const { io, values } = invocation;
  const plan = readPlan(invocation);
  if (values.agent !== undefined) checkAgentId(values.agent);
  checkNamed(plan.env, io.env);
  checkProgramInside({ plan, io });
  const tunnels = modelTunnels({ plan, io });
  const signals = passSignals(io);
  try {
    return await runPlan({ invocation, plan, signals }, tunnels);
  } catch (error) {
    const name = signals.stoppedBy();
    if (name === undefined) throw error;
    return { exitCode: codeOfSignal(name) };
  }
};

/**
 * The home whose gate the run uses, with its configuration and servers.
 *
 * @throws ConsentError `config_invalid` if the agent speaks MCP and there is no server.
 */
async function openRunHome({ openclawUser, speaksMcp }: RunPlan, invocation: Invocation) {
  const directory =
    openclawUser === undefined
      ? ownHomePath(invocation)
      : (await findOpenClawLocations(openclawUser)).dir;
  const home = await makeHome(directory);
  const source = await readHomeConfig(home, invocation);
  const servers = source.config?.servers ?? [];
  if (speaksMcp && servers.length === 0)
    throw new ConsentError(
      "config_invalid",
      `Cannot speak MCP: there is no MCP server; add one to proxy.upstream_servers in ${source.file}`,
    );
  return { home, source, servers };
}

/** What is to be run. */
interface Asked extends HoldAgentParts {
  readonly invocation: Invocation;
}

async function runPlan(asked: Asked, tunnels: ReturnType<typeof modelTunnels>): Promise<Outcome> {
  const { invocation, plan: given } = asked;
  const { home, source, servers } = await openRunHome(given, invocation);
  const hidden = await ownPaths({ home, source, invocation });
  const portGuard = makePortGuard(ownPorts(source));
  await checkHostPorts(given.hostPorts, portGuard);
  const privateHome =
    given.privateHome === undefined
      ? undefined
      : await namedDirectory(home.dir, "homes", given.privateHome);
  const onNotice = (text: string): void => invocation.print.notice(text);
  await sweepReviews(home);
  const { plan, review } = await withReview(
    await withKnown(given, home),
    home,
    invocation.values.agent,
  );
  const parts = { ...asked, plan };
  const programs = ownPackages();
  const sandboxes = makeSandboxes(plan, { hidden, programs, privateHome, onNotice });
  let onStart: () => void = () => {};
  const started = new Promise<void>((resolve) => (onStart = resolve));
  const holding = chooseSandbox(sandboxes, plan.requiredLevel, (sandbox) =>
    holdAgent({ ...parts, onStart }, sandbox),
  ).catch(hintAtWorkspace(invocation));
  holding.catch(() => {}); // heard of below, unless something else fails first
  try {
    // The sandbox is made in processes of its own; ours opens or finds the gate meanwhile, and not
    // before they run.
    await Promise.race([started, holding]);
    const under = { ...parts, home, source, servers, hidden, programs, holding, review, portGuard };
    if (hasOwnGate(asked)) {
      const { runUnderGate } = await import("../run/run-under-gate.js");
      return await runUnderGate({ ...under, tunnels });
    }
    const { runUnderResident } = await import("../run/run-under-resident.js");
    return await runUnderResident(under);
  } finally {
    await holding.then(
      (held) => held.close(),
      () => {},
    );
    if (review !== undefined) await endUnwritten(review);
  }
}

/** Whether this process has the gate: where somebody chose that, and for an OpenClaw user, which is said. */
function hasOwnGate({ invocation, plan }: Asked): boolean {
  if (isAlone(invocation)) return true;
  if (plan.openclawUser === undefined) return false;
  invocation.print.notice(
    "With --openclaw-user this run has a gate and a log of its own, as with --alone",
  );
  return true;
}

/** What the workspace had when an agent started there before. */
async function withKnown(plan: RunPlan, home: Home): Promise<RunPlan> {
  const { workspace } = plan;
  if (workspace?.access !== "read-write") return plan;
  return {
    ...plan,
    workspace: { ...workspace, known: await readKnownPlaces(home, workspace.path) },
  };
}

/**
 * Where the workspace is an overlay, what is written to it goes to a place of the home that
 * outlasts the run.
 */
async function withReview(
  plan: RunPlan,
  home: Home,
  agent = "agent",
): Promise<{ readonly plan: RunPlan; readonly review: OpenedReview | undefined }> {
  const { workspace } = plan;
  if (workspace?.access !== "overlay") return { plan, review: undefined };
  const review = await openReview(home, {
    workspace: workspace.path,
    agent,
    argv: plan.argv,
    nowMs: Date.now(),
  });
  return { plan: { ...plan, workspace: { ...workspace, layers: review.layers } }, review };
}

/** Where servers of this home listen. */
function ownPorts({ config }: HomeConfig): readonly number[] {
  return [config?.port, config?.httpPort, config?.webhook?.listen?.port].filter(
    (port) => port !== undefined,
  );
}

/** Who named no workspace may not know that there is one. */
function hintAtWorkspace({ io, values }: Invocation): (error: unknown) => never {
  return (error) => {
    if (
      !isConsentError(error) ||
      values.workspace !== undefined ||
      !error.message.startsWith(`Cannot show "${io.cwd}" `)
    )
      throw error;
    const hint = "start acp run in a project's directory, or name one with --workspace";
    throw new ConsentError(error.code, `${error.message}; ${hint}`, { cause: error });
  };
}

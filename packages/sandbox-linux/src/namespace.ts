/**
 * Namespace sandbox: an agent in namespaces of its own, made by bubblewrap, whose network has nothing in it but a loopback and one listener,
 * which is handed out to the manager. Root managers become the agent's user first. Level `full`. Prose: docs/sandbox.md.
 */
import type { Server, Socket } from "node:net";
import { ConsentError, type SandboxReport, type SandboxSpawnOptions } from "@acp/core";
import { confirmFindings, confirmPrivileges, runFirstStage } from "./first-stage.js";
import { requireLevel } from "./levels.js";
import { findProcesses, superviseAgent } from "./namespace-agent.js";
import { type NamespaceChild, PORT_INSIDE, startNamespaceChild } from "./namespace-child.js";
import { prepareNamespace } from "./namespace-prepare.js";
import { makeNamespaceReport, makeObstacleReport } from "./namespace-report.js";
import { type InitHelper, initHelper } from "./native-helper.js";
import type { ConfinementOptions, LinuxSandbox, LinuxSandboxedProcess, Session } from "./parts.js";
import { endTree, markProcess } from "./process-tree.js";
import { type CapGroups, capsItem, createCapGroups, rlimitCommand } from "./resource-caps.js";
import { openSession, sweepSessions } from "./session.js";

/** Node starts once inside; a machine that takes longer for it is not going to run an agent. */
const START_MS = 60_000;

/** How the first process of the namespace is found. */
type FindInit = () => Promise<InitHelper>;

/**
 * Makes the namespace sandbox. Its `spawn` and `probe` throw ConsentError `options_invalid` where the options name a directory, a user or a
 * cap that cannot be had.
 *
 * @param findInit - For tests.
 */
export function createNamespaceSandbox(options: ConfinementOptions = {}, findInit: FindInit = initHelper): LinuxSandbox {
  const prepare = (): ReturnType<typeof prepareNamespace> => prepareNamespace(options, findInit);
  return {
    name: "namespace",
    probe: () => probe(prepare),
    spawn: (argv, spawnOptions) => start(prepare, argv, spawnOptions),
  };
}

type Prepare = () => ReturnType<typeof prepareNamespace>;

/** The only honest answer is a start: everything that a host can refuse is in it. */
async function probe(prepare: Prepare): Promise<SandboxReport> {
  const obstacle = await prepare();
  if ("reason" in obstacle) return makeObstacleReport(obstacle);
  const fix = "Use another sandbox, and report this as a fault";
  try {
    const nothing = ["/bin/sh", "-c", "exit 0"];
    const agent = await start(prepare, nothing, { onConnection: (socket) => socket.destroy(), env: () => ({}), stdio: "pipe" });
    const { code } = await agent.exited;
    return code === 0 ? agent.report : makeObstacleReport({ reason: "an agent that does nothing did not end well", fix });
  } catch (error) {
    if (!(error instanceof ConsentError) || error.code === "options_invalid") throw error;
    return makeObstacleReport({ reason: error.message, fix });
  }
}

/** What is to be taken back where a start fails. */
interface Begun {
  readonly session: Session;
  child?: NamespaceChild;
  groups?: CapGroups;
  listeners?: readonly Server[];
}

async function start(prepare: Prepare, argv: readonly string[], spawnOptions: SandboxSpawnOptions<Socket>): Promise<LinuxSandboxedProcess> {
  checkCommand(argv);
  const { signal: ended, requiredLevel, files = {} } = spawnOptions;
  const ports = checkPorts(spawnOptions.ports);
  await sweepSessions();
  const prepared = await prepare();
  if ("reason" in prepared) throw unavailable(prepared.reason, prepared.fix);
  const signal = AbortSignal.any([AbortSignal.timeout(START_MS), ...(ended === undefined ? [] : [ended])]);
  const session = await openSession({ sandbox: "namespace", files });
  const begun: Begun = { session };
  try {
    const groups = (begun.groups = await createCapGroups(session, prepared.caps));
    const caps = capsItem(groups, prepared.caps, prepared.init.isAvailable || rlimitCommand(prepared.caps).length > 0);
    const report = makeNamespaceReport({ ...prepared, variant: prepared.host.variant, caps, isOverlay: prepared.overlay !== undefined });
    requireLevel(report, requiredLevel);
    signal.throwIfAborted();
    begun.child = await startNamespaceChild({ prepared, session, argv, options: spawnOptions });
    const { process: child, control, places } = begun.child;
    const stage = await runFirstStage(child, { mode: "listen", port: PORT_INSIDE, ports, session, signal, places });
    begun.listeners = [stage.listener, ...stage.further];
    confirmFindings(report, stage.findings);
    confirmPrivileges("namespace", prepared.user.uid, stage.findings);
    const processes = findProcesses(child);
    await groups.add([processes.init.pid, processes.agent.pid]);
    signal.throwIfAborted();
    control?.begin();
    stage.go(spawnOptions.onConnection, spawnOptions.ports);
    return superviseAgent({ child, control, processes, listeners: begun.listeners, groups, session, report, signal: ended });
  } catch (error) {
    await takeBack(begun);
    throw readFailure(error, ended);
  }
}

const PORTS_MAX = 16;

/** Further ports of the agent's loopback: those that an unprivileged user may listen on, and not the proxy's. */
function checkPorts(ports: SandboxSpawnOptions<Socket>["ports"] = new Map()): readonly number[] {
  const all = [...ports.keys()];
  const wrong = all.find((port) => !Number.isInteger(port) || port < 1024 || port > 65_535 || port === PORT_INSIDE);
  if (wrong !== undefined) {
    throw new ConsentError(
      "options_invalid",
      `Cannot give an agent the port ${wrong}: write one from 1024 to 65535 that is not ${PORT_INSIDE}`,
    );
  }
  if (all.length > PORTS_MAX) throw new ConsentError("options_invalid", `Cannot give an agent ${all.length} ports: ${PORTS_MAX} at most`);
  return all;
}

function checkCommand(argv: readonly string[]): void {
  if (argv.length === 0 || argv[0] === "") throw new ConsentError("options_invalid", "Cannot start an agent: there is no command");
  if (argv.some((each) => each.includes("\0"))) {
    throw new ConsentError("options_invalid", "Cannot start an agent: an argument of its command holds a NUL");
  }
}

async function takeBack({ session, child, groups, listeners = [] }: Begun): Promise<void> {
  const mark = child?.process.pid === undefined ? undefined : markProcess(child.process.pid);
  if (mark !== undefined) await endTree(mark);
  child?.control?.close();
  for (const each of listeners) each.close();
  await groups?.remove();
  // The next start tries again; why this one failed matters more.
  await Promise.resolve(session[Symbol.asyncDispose]()).catch(() => {});
}

function readFailure(error: unknown, ended: AbortSignal | undefined): unknown {
  if (ended?.aborted === true) return new ConsentError("aborted", "Cannot start an agent: its start was aborted", { cause: ended.reason });
  if (error instanceof ConsentError) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new ConsentError("sandbox_failed", `Cannot start an agent in "namespace": ${text}`, { cause: error });
}

function unavailable(reason: string, fix: string): ConsentError {
  return new ConsentError("sandbox_unavailable", `Cannot start an agent in "namespace": ${reason}; ${fix}`);
}

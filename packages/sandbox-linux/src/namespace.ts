/**
 * Namespace sandbox: an agent in namespaces of its own, made by bubblewrap, whose network has
 * nothing in it but a loopback and one listener, which is handed out to the manager. Root managers
 * become the agent's user first. Level `full`. Prose: docs/how-to/sandbox.md.
 */
import type { Server } from "node:net";
import { constants, setPriority } from "node:os";
import { ConsentError, type SandboxReport } from "@acp/core";
import { confirmFindings, confirmPrivileges, runFirstStage } from "./first-stage.js";
import { makeHeld, withSpawn } from "./held.js";
import { requireLevel } from "./levels.js";
import { type AgentParts, findProcesses, superviseAgent } from "./namespace-agent.js";
import { type NamespaceChild, PORT_INSIDE, startNamespaceChild } from "./namespace-child.js";
import {
  type FindInit,
  type NamespaceOptions,
  type NamespacePreparation,
  prepareNamespace,
} from "./namespace-prepare.js";
import { type HeldView, holdView } from "./namespace-view.js";
import { makeNamespaceReport, makeObstacleReport } from "./namespace-report.js";
import { initHelper } from "./native-helper.js";
import type {
  ConnectionTakers,
  FirstStage,
  HeldAgent,
  HoldOptions,
  LinuxSandbox,
  LinuxSandboxedProcess,
  Session,
} from "./parts.js";
import { endTree, markProcess } from "./process-tree.js";
import {
  type CapGroups,
  capsItem,
  createCapGroups,
  rlimitCommand,
  rlimitsOf,
} from "./resource-caps.js";
import { openSession, sweepSessions } from "./session.js";

/** Node starts once inside; a machine that takes longer for it is not going to run an agent. */
const START_MS = 60_000;

/**
 * Makes the namespace sandbox. Its `spawn` and `probe` throw ConsentError `options_invalid` where
 * the options name a directory, a user or a cap that cannot be had.
 *
 * @param findInit - For tests.
 */
export function createNamespaceSandbox(
  options: NamespaceOptions = {},
  findInit: FindInit = initHelper,
): LinuxSandbox {
  const prepare = (mayRecall: boolean): ReturnType<Prepare> =>
    prepareNamespace(options, { findInit, mayRecall });
  return withSpawn({
    name: "namespace",
    probe: () => probe(prepare),
    hold: (argv, holdOptions) => hold(prepare, argv, holdOptions),
  });
}

/** @param mayRecall - Whether what worked here before is taken to work again. */
type Prepare = (mayRecall: boolean) => ReturnType<typeof prepareNamespace>;

/** The only honest answer is a start: everything that a host can refuse is in it. */
async function probe(prepare: Prepare): Promise<SandboxReport> {
  const prepared = await prepare(false);
  if ("reason" in prepared) return makeObstacleReport(prepared);
  const fix = "Use another sandbox, and report this as a fault";
  try {
    const held = await holdPrepared(prepared, ["/bin/sh", "-c", "exit 0"], {
      env: () => ({}),
      stdio: "pipe",
    });
    const agent = await held.go({ onConnection: (socket) => socket.destroy() });
    const { code } = await agent.exited;
    return code === 0
      ? agent.report
      : makeObstacleReport({ reason: "an agent that does nothing did not end well", fix });
  } catch (error) {
    if (!(error instanceof ConsentError) || error.code === "options_invalid") throw error;
    return makeObstacleReport({ reason: error.message, fix });
  }
}

/**
 * Where what worked before does not work now, the host is looked at anew; where that finds nothing
 * else, the start has failed.
 */
async function hold(
  prepare: Prepare,
  argv: readonly string[],
  options: HoldOptions,
): Promise<HeldAgent> {
  checkCommand(argv);
  checkPorts(options.ports);
  const recalled = available(await prepare(true));
  try {
    return await holdPrepared(recalled, argv, options);
  } catch (error) {
    if (!(error instanceof ConsentError) || error.code !== "sandbox_failed") throw error;
    const tried = available(await prepare(false));
    if (isSameWay(tried, recalled)) throw error;
    return await holdPrepared(tried, argv, options);
  }
}

function isSameWay(one: NamespacePreparation, other: NamespacePreparation): boolean {
  const path = ({ init }: NamespacePreparation): string | undefined =>
    init.isAvailable ? init.path : undefined;
  return one.host.variant === other.host.variant && path(one) === path(other);
}

function available(prepared: Awaited<ReturnType<Prepare>>): NamespacePreparation {
  if (!("reason" in prepared)) return prepared;
  throw new ConsentError(
    "sandbox_unavailable",
    `Cannot start an agent in "namespace": ${prepared.reason}; ${prepared.fix}`,
  );
}

/** What is to be taken back where a start fails. */
interface Begun {
  readonly session: Session;
  child?: NamespaceChild;
  groups?: CapGroups;
  listeners?: readonly Server[];
  view?: HeldView | undefined;
}

async function holdPrepared(
  prepared: NamespacePreparation,
  argv: readonly string[],
  options: HoldOptions,
): Promise<HeldAgent> {
  const { signal: ended, files = {} } = options;
  await sweepSessions();
  const signal = AbortSignal.any([
    AbortSignal.timeout(START_MS),
    ...(ended === undefined ? [] : [ended]),
  ]);
  const begun: Begun = { session: await openSession({ sandbox: "namespace", files }) };
  const undo = async (cause: unknown): Promise<never> => {
    await takeBack(begun);
    // Its last word says more than its end, and may come later.
    await begun.child?.control?.ended;
    throw begun.child?.names?.failure() ?? readFailure(cause, ended);
  };
  try {
    const { agent, stage } = await startHeld({ prepared, argv, options, begun, signal });
    const { names, report } = agent;
    const go = async (takers: ConnectionTakers): Promise<LinuxSandboxedProcess> => {
      await names?.settled();
      ended?.throwIfAborted();
      // Closed here, the port is closed inside.
      if (prepared.isOffline) for (const each of agent.listeners) each.close();
      agent.control?.begin();
      stage.go(takers);
      return superviseAgent(agent);
    };
    const { found, unheld } = prepared.guard;
    const known = {
      ...(found !== undefined && { persistent: found, unheld }),
      ...(begun.view !== undefined && { view: begun.view.view }),
      ...(names !== undefined && { onHeldName: names.onChange }),
    };
    return makeHeld({ report, ...known, go, undo, end: () => takeBack(begun) });
  } catch (error) {
    return await undo(error);
  }
}

interface HeldStart {
  readonly prepared: NamespacePreparation;
  readonly argv: readonly string[];
  readonly options: HoldOptions;
  /** Gets each thing as soon as it is there. */
  readonly begun: Begun;
  readonly signal: AbortSignal;
}

/** Starts everything but the command, which waits behind the first stage's self-check. */
async function startHeld({
  prepared,
  argv,
  options,
  begun,
  signal,
}: HeldStart): Promise<{ readonly agent: AgentParts; readonly stage: FirstStage }> {
  const { session } = begun;
  const groups = (begun.groups = await createCapGroups(session, prepared.caps));
  const report = reportOf(prepared, groups);
  requireLevel(report, options.requiredLevel);
  signal.throwIfAborted();
  const started = (begun.child = await startNamespaceChild({
    prepared,
    limits: rlimitsOf(prepared.caps, groups),
    session,
    argv,
    options,
  }));
  const { process: child, control, names, places } = started;
  const stage = await runFirstStage(child, {
    mode: "listen",
    port: PORT_INSIDE,
    ports: options.ports ?? [],
    session,
    signal,
    places,
  });
  const listeners = (begun.listeners = [stage.listener, ...stage.further]);
  confirmFindings(report, stage.findings);
  confirmPrivileges("namespace", prepared.user.uid, stage.findings);
  const processes = findProcesses(child);
  hurry(processes.init.pid);
  await groups.add([processes.init.pid, processes.agent.pid]);
  const view = (begun.view = viewOf(prepared, started));
  const watched = { child, control, names, processes, listeners, groups, session, view };
  return { agent: { ...watched, report, signal: options.signal }, stage };
}

/** So that an agent with many processes does not keep its own from stopping them. Root only may. */
function hurry(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_HIGHEST);
  } catch {
    // it gets its turn like any other
  }
}

function reportOf(prepared: NamespacePreparation, groups: CapGroups): SandboxReport {
  const { init, caps, host, overlay } = prepared;
  return makeNamespaceReport({
    ...prepared,
    variant: host.variant,
    caps: capsItem(groups, caps, init.isAvailable || rlimitCommand(caps).length > 0),
    isOverlay: overlay !== undefined,
  });
}

/** Holds the agent's view of its workspace open for its servers, where that is an overlay. */
function viewOf(
  { places: { workspace } }: NamespacePreparation,
  { process: child, places }: NamespaceChild,
): HeldView | undefined {
  if (workspace?.access !== "overlay") return undefined;
  const overlay = places.find(({ path }) => path === workspace.path);
  return overlay === undefined ? undefined : holdView(child.pid ?? -1, overlay);
}

const PORTS_MAX = 16;

/**
 * Further ports of the agent's loopback: those that an unprivileged user may listen on, and not the
 * proxy's.
 */
function checkPorts(ports: readonly number[] = []): void {
  const wrong = ports.find(
    (port) => !Number.isInteger(port) || port < 1024 || port > 65_535 || port === PORT_INSIDE,
  );
  if (wrong !== undefined) {
    throw new ConsentError(
      "options_invalid",
      `Cannot give an agent the port ${wrong}: write one from 1024 to 65535 that is not ${PORT_INSIDE}`,
    );
  }
  if (ports.length > PORTS_MAX)
    throw new ConsentError(
      "options_invalid",
      `Cannot give an agent ${ports.length} ports: ${PORTS_MAX} at most`,
    );
}

function checkCommand(argv: readonly string[]): void {
  if (argv.length === 0 || argv[0] === "")
    throw new ConsentError("options_invalid", "Cannot start an agent: there is no command");
  if (argv.some((each) => each.includes("\0"))) {
    throw new ConsentError(
      "options_invalid",
      "Cannot start an agent: an argument of its command holds a NUL",
    );
  }
}

async function takeBack({ session, child, groups, listeners = [], view }: Begun): Promise<void> {
  view?.[Symbol.dispose]();
  const { pid, exitCode, signalCode } = child?.process ?? { exitCode: null, signalCode: null };
  // One that has ended took all of its namespace with it, and its number may be somebody else's.
  const mark =
    pid === undefined || exitCode !== null || signalCode !== null ? undefined : markProcess(pid);
  if (mark !== undefined) await endTree(mark);
  child?.control?.close();
  for (const each of listeners) each.close();
  await groups?.remove();
  // The next start tries again; why this one failed matters more.
  await Promise.resolve(session[Symbol.asyncDispose]()).catch(() => {});
}

function readFailure(error: unknown, ended: AbortSignal | undefined): unknown {
  if (ended?.aborted === true)
    return new ConsentError("aborted", "Cannot start an agent: its start was aborted", {
      cause: ended.reason,
    });
  if (error instanceof ConsentError) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new ConsentError("sandbox_failed", `Cannot start an agent in "namespace": ${text}`, {
    cause: error,
  });
}

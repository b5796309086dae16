/**
 * Supervised: how an agent starts that has no namespaces around it. The manager listens on the
 * host's loopback; the native helper gives up the agent's rights and ends what the agent leaves
 * behind. Shared by landlock, preload and env, which say what those rights are.
 */
import { chown, mkdir, rm } from "node:fs/promises";
import { ConsentError, isConsentError } from "@acp/core";
import type { SandboxReport } from "@acp/core";
import { confirmFindings, runFirstStage } from "./first-stage.js";
import { makeHeld } from "./held.js";
import { requireLevel } from "./levels.js";
import type { Obstacle } from "./namespace-host.js";
import type { NativeHelper } from "./native-helper.js";
import type {
  AgentUser,
  ConnectionTakers,
  ExpectedPlace,
  FirstStageFindings,
  HeldAgent,
  HoldOptions,
  LinuxSandboxedProcess,
  LinuxSandboxName,
  ResourceCaps,
  Session,
} from "./parts.js";
import { acceptFrom } from "./peer-uid.js";
import type { OpenPlaces } from "./places.js";
import { descendantsOf, signalProcess } from "./process-tree.js";
import { refusePorts } from "./refuse-ports.js";
import { type CapGroups, createCapGroups } from "./resource-caps.js";
import { openSession, sweepSessions } from "./session.js";
import { standardStreams } from "./standard-streams.js";
import { findAgent, spawnSupervised, type SupervisedChild } from "./supervised-child.js";
import { writeEnvironment } from "./uid-command.js";
import { listenOnLoopback, stopListening } from "./uid-port.js";
import { parseSignal } from "./uid-spawn.js";
import { createUndo, type Undo } from "./undo.js";

/** What a backend has found out and decided before anything is started. */
export interface SupervisedPlan {
  readonly name: Extract<LinuxSandboxName, "landlock" | "preload" | "env">;
  readonly user: AgentUser;
  readonly helper: NativeHelper;
  /** Where the agent works, unless the caller says so; its home where this is left out. */
  readonly cwd?: string;
  /** `undefined`: no limits. */
  readonly caps: ResourceCaps | undefined;
  /** Whether the agent can reach the proxy at all. */
  readonly reachesProxy: boolean;
  /** @param groups - The control groups around the agent; left out before there are any. */
  readonly report: (groups?: CapGroups) => SandboxReport;
  /** Makes what the agent needs to be there. */
  readonly setUp: (place: SupervisedPlace) => Promise<SupervisedSetup>;
}

/** Where an agent starts. */
export interface SupervisedPlace {
  readonly session: Session;
  readonly port: number;
  /** Left out where the plan has no caps. */
  readonly groups: CapGroups | undefined;
}

/** What an agent starts with. */
export interface SupervisedSetup {
  readonly home: string;
  /** Comes before everything else, as root. */
  readonly outside?: readonly string[];
  /** Variables that the caller may override. */
  readonly env: Readonly<Record<string, string>>;
  /** Options of native/confine.c, given the file with the agent's environment. */
  readonly confine: (environment: string) => readonly string[];
  readonly filter: Uint8Array | undefined;
  /**
   * What the options of native/confine.c name as `/proc/self/fd/N`, the first as {@link PLACES_FD};
   * closed when the agent runs.
   */
  readonly open?: OpenPlaces;
  /** What the agent has to find; what is open, under its own names, unless given. */
  readonly expected?: readonly ExpectedPlace[];
  /** Put before the agent's own command line. */
  readonly prefix: readonly string[];
}

interface Starting {
  readonly plan: SupervisedPlan;
  readonly argv: readonly string[];
  readonly options: HoldOptions;
  readonly session: Session;
  readonly undo: Undo;
  /** Until the word to go. */
  readonly signal: AbortSignal;
}

/** Node starts once inside; a machine that takes longer for it is not going to run an agent. */
const START_MS = 60_000;

/**
 * Starts all but the agent's command.
 *
 * @throws ConsentError as {@link LinuxSandbox.hold} says. Nothing is left running.
 */
export async function holdSupervised(
  plan: SupervisedPlan,
  argv: readonly string[],
  options: HoldOptions,
): Promise<HeldAgent> {
  if (argv.length === 0)
    throw new ConsentError("options_invalid", "Cannot start an agent: there is no command");
  refusePorts(plan.name, options);
  requireLevel(plan.report(), options.requiredLevel);
  await sweepSessions();
  const session = await openSession({
    sandbox: plan.name,
    ...(options.files !== undefined && { files: options.files }),
  });
  const undo = createUndo(() => Promise.resolve(session[Symbol.asyncDispose]()));
  const takeBack = async (cause: unknown): Promise<never> => {
    // why it did not start matters more; the next start looks again
    await undo.all().catch(() => {});
    if (isConsentError(cause)) throw cause;
    if (options.signal?.aborted === true)
      throw new ConsentError("aborted", `Cannot start an agent in "${plan.name}": aborted`, {
        cause,
      });
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ConsentError("sandbox_failed", `Cannot start an agent in "${plan.name}": ${why}`, {
      cause,
    });
  };
  try {
    const signal = AbortSignal.any([
      AbortSignal.timeout(START_MS),
      ...(options.signal === undefined ? [] : [options.signal]),
    ]);
    const { report, go } = await holdIn({ plan, argv, options, session, undo, signal });
    return makeHeld({ report, go, undo: takeBack, end: () => undo.all() });
  } catch (error) {
    return await takeBack(error);
  }
}

/** Makes a directory of the agent's own. */
export async function makePrivate(path: string, { uid, gid }: AgentUser): Promise<string> {
  await mkdir(path, { mode: 0o700 });
  await chown(path, uid, gid);
  return path;
}

/**
 * A report found by a start: everything that a host can refuse is in one.
 *
 * @param obstacle - Makes the report of a sandbox that cannot start.
 */
export async function probeByStart(
  plan: SupervisedPlan,
  obstacle: (why: Obstacle) => SandboxReport,
): Promise<SandboxReport> {
  const fix = "Use another sandbox, and report this as a fault";
  try {
    const nothing = ["/bin/sh", "-c", "exit 0"];
    const held = await holdSupervised(plan, nothing, { env: () => ({}), stdio: "pipe" });
    const agent = await held.go({ onConnection: (socket) => socket.destroy() });
    const { code } = await agent.exited;
    return code === 0
      ? agent.report
      : obstacle({ reason: "an agent that does nothing did not end well", fix });
  } catch (error) {
    if (!isConsentError(error)) throw error;
    return obstacle({ reason: error.message, fix });
  }
}

interface Held {
  readonly report: SandboxReport;
  readonly go: (takers: ConnectionTakers) => LinuxSandboxedProcess;
}

async function holdIn(starting: Starting): Promise<Held> {
  const { plan, argv, options, session, undo, signal } = starting;
  signal.throwIfAborted();
  const groups = plan.caps === undefined ? undefined : await createCapGroups(session, plan.caps);
  if (groups !== undefined) undo.add(() => groups.remove());
  const report = plan.report(groups);
  const { port, server } = await listenOnLoopback(0);
  undo.add(() => stopListening(server));
  const setup = await plan.setUp({ session, port, groups });
  using open = setup.open;
  const env = { ...setup.env, ...options.env({ port, files: session.inside, home: setup.home }) };
  const environment = await writeEnvironment(session, plan.user, env);
  const child = spawnSupervised({
    user: plan.user,
    helper: plan.helper,
    session,
    environment,
    argv: [...setup.prefix, ...argv],
    confine: setup.confine(environment),
    filter: setup.filter,
    outside: setup.outside ?? [],
    places: open?.all.map(({ fd }) => fd) ?? [],
    streams: standardStreams(options),
    cwd: options.cwd ?? plan.cwd ?? setup.home,
  });
  undo.add(() => child.end());
  const stage = await runFirstStage(child.process, {
    mode: "connect",
    port,
    listener: server,
    session,
    signal,
    places: setup.expected ?? open?.all ?? [],
  });
  confirm(plan, report, stage.findings);
  const agent = findAgent(child);
  // all of them wait for the word to go
  await groups?.add([child.process.pid ?? 0, ...descendantsOf(child.process.pid ?? 0)]);
  await rm(environment);
  return {
    report,
    go: ({ onConnection }) => {
      options.signal?.throwIfAborted();
      stage.go({ onConnection: acceptFrom(plan.user.uid, onConnection) });
      return supervise(starting, { child, report, agent });
    },
  };
}

/**
 * Compares what was found inside with what is claimed.
 *
 * @throws ConsentError `sandbox_failed`.
 */
function confirm(
  { name, user, reachesProxy, helper }: SupervisedPlan,
  report: SandboxReport,
  findings: FirstStageFindings,
): void {
  const { privileges } = findings;
  const fail = (what: string): never => {
    throw new ConsentError("sandbox_failed", `Cannot start an agent in "${name}": ${what}`);
  };
  if (!reachesProxy && findings.proxy === "reached")
    fail("inside, the proxy is in reach, and nothing should be");
  confirmFindings(report, reachesProxy ? findings : { ...findings, proxy: "reached" });
  if (privileges.uid !== user.uid) fail(`inside it has uid ${privileges.uid}, not ${user.uid}`);
  if (helper.isAvailable && !privileges.hasNoNewPrivileges)
    fail("inside it could still get privileges");
  if (name === "landlock" && !privileges.hasSeccompFilter)
    fail("inside there is no filter of system calls");
}

interface Running {
  readonly child: SupervisedChild;
  readonly report: SandboxReport;
  readonly agent: ReturnType<typeof findAgent>;
}

/** Looks after an agent that runs, to its end. */
function supervise(
  { options, undo }: Starting,
  { child, report, agent }: Running,
): LinuxSandboxedProcess {
  const end = (): void => void child.end();
  options.signal?.addEventListener("abort", end, { once: true });
  if (options.signal?.aborted === true) end();
  const exited = child.exit.then(async (exit) => {
    options.signal?.removeEventListener("abort", end);
    await undo.all().catch(() => {}); // what is left is recorded, for the next start
    return exit;
  });
  return {
    report,
    pid: agent.pid,
    stdin: child.process.stdin ?? undefined,
    stdout: child.process.stdout ?? undefined,
    stderr: child.process.stderr ?? undefined,
    exited,
    kill: (name) => void signalProcess(agent, parseSignal(name)),
    close: async () => {
      await child.end();
      await exited;
    },
  };
}

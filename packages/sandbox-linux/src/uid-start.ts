/**
 * UID start: rules first, then the agent; and in the other order at the end. What cannot be taken
 * back stays recorded for the next start.
 */
import { rm } from "node:fs/promises";
import type { Server } from "node:net";
import { ConsentError } from "@acp/core";
import type { SandboxReport } from "@acp/core";
import { findCgroupPlace, makeCgroup } from "./cgroup-match.js";
import { confirmFindings, runFirstStage } from "./first-stage.js";
import { makeHeld } from "./held.js";
import { openTableGuard } from "./nft-guard.js";
import { makeTableName, makeUidRules } from "./nft-rules.js";
import type { CgroupName } from "./nft-rules.js";
import type {
  ConnectionTakers,
  FirstStage,
  HeldAgent,
  HoldOptions,
  LinuxSandboxedProcess,
  Session,
} from "./parts.js";
import { signalProcess } from "./process-tree.js";
import type { ProcessMark } from "./process-tree.js";
import { createCapGroups, parseCaps, removeCgroup } from "./resource-caps.js";
import { openSession, sweepSessions } from "./session.js";
import { standardStreams } from "./standard-streams.js";
import { openHome } from "./uid-access.js";
import { makeUidCommand, writeEnvironment } from "./uid-command.js";
import { openUidNamespace } from "./uid-namespace.js";
import type { UidNamespace } from "./uid-namespace.js";
import { holdPort, listenOnLoopback, stopListening } from "./uid-port.js";
import type { UidGround, UidOptions } from "./uid-prepare.js";
import { refuseRunning } from "./uid-processes.js";
import { refusePorts } from "./refuse-ports.js";
import { releaseUid } from "./uid-release.js";
import { closeRoutes, openRoutes } from "./uid-routes.js";
import { confirmAgent, findAgent, parseSignal, spawnChain } from "./uid-spawn.js";
import type { SpawnedChild } from "./uid-spawn.js";
import { createUndo } from "./undo.js";
import type { Undo } from "./undo.js";

/** What to start. */
export interface UidStart {
  readonly argv: readonly string[];
  readonly options: UidOptions;
  readonly holdOptions: HoldOptions;
  readonly ground: UidGround;
  readonly report: SandboxReport;
  /** Whether routes are closed too. */
  readonly hasRoutesClosed: boolean;
}

/** What is being started: where it is kept, how it is taken back, and what stops it on the way. */
interface Starting extends UidStart {
  readonly session: Session;
  readonly undo: Undo;
  /** The caller's, or the rules are gone. */
  readonly stopped: AbortSignal;
  /** The rules are gone. */
  readonly lost: AbortController;
}

/** Cgroups that were made for the agent, and how a rule names the one that rules can name. */
interface AgentCgroups {
  readonly directories: readonly string[];
  readonly name: CgroupName | undefined;
}

/**
 * Starts all but the agent's command.
 *
 * @throws ConsentError `sandbox_failed`, `sandbox_unavailable`, `options_invalid`. Nothing is left
 *   running.
 */
export async function holdUid(start: UidStart): Promise<HeldAgent> {
  const { signal, files } = start.holdOptions;
  refusePorts("uid", start.holdOptions);
  signal?.throwIfAborted();
  await sweepSessions({ release: releaseUid });
  const session = await openSession({ sandbox: "uid", ...(files !== undefined && { files }) });
  const undo = createUndo(() => Promise.resolve(session[Symbol.asyncDispose]()));
  const lost = new AbortController();
  const stopped = AbortSignal.any([lost.signal, ...(signal === undefined ? [] : [signal])]);
  const takeBack = async (cause: unknown): Promise<never> => {
    await undo.all().catch(() => {}); // why it did not start matters more; what is left is recorded
    throw cause;
  };
  try {
    const go = await holdIn({ ...start, session, undo, lost, stopped });
    return makeHeld({ report: start.report, go, undo: takeBack, end: () => undo.all() });
  } catch (error) {
    return await takeBack(error);
  }
}

/** @returns The word to go. */
async function holdIn(
  starting: Starting,
): Promise<(takers: ConnectionTakers) => LinuxSandboxedProcess> {
  const { holdOptions, ground, session, undo, stopped } = starting;
  const { places, user } = ground;
  const cgroups = await openCgroups(starting);
  const { port, server } = await openPort(starting, cgroups.name);
  const readOnly = [
    ...places.readable,
    ...(places.workspace?.access === "read-only" ? [places.workspace.path] : []),
  ];
  const namespace = await openUidNamespace(readOnly);
  undo.add(async () => {
    namespace.kill();
    await namespace.ended;
  });
  const home = await openHome(user, session);
  const environment = await writeEnvironment(
    session,
    user,
    holdOptions.env({ port, files: session.inside, home }),
  );
  const spawned = spawnIn(starting, { namespace, cgroups, home });
  undo.add(async () => {
    namespace.kill();
    // stopped with the agent, it would not notice; killed, it would leave the agent's remains to
    // somebody who may not bury them
    spawned.child.kill("SIGCONT");
    await spawned.exit;
  });
  const stage = await runFirstStage(spawned.child, {
    mode: "connect",
    port,
    listener: server,
    session,
    signal: stopped,
  });
  const mark = confirm(starting, { stage, spawned, cgroups });
  await rm(environment);
  return (takers) => {
    stopped.throwIfAborted();
    stage.go(takers);
    return superviseUid(starting, { namespace, spawned, mark });
  };
}

/** Caps, and where rules can name a cgroup of version 2, one for them. */
async function openCgroups({ options, ground, session, undo }: Starting): Promise<AgentCgroups> {
  const caps = await createCapGroups(session, parseCaps(options.caps));
  undo.add(() => caps.remove());
  const place =
    ground.noCgroup === undefined ? await findCgroupPlace(session.id, caps.paths) : undefined;
  if (place === undefined || "missing" in place)
    return { directories: caps.paths, name: undefined };
  const directories = [...new Set([...caps.paths, place.directory])];
  await session.record({ cgroups: directories });
  await makeCgroup(place);
  undo.add(async () => {
    if (!(await removeCgroup(place.directory)))
      throw new ConsentError("sandbox_failed", `Cannot remove the cgroup "${place.directory}"`);
  });
  return { directories, name: place.name };
}

/**
 * The port, and the rules that leave it to the agent alone. Connections that are older than the
 * rules are nobody's.
 */
async function openPort(
  { options, ground, session, undo, lost, hasRoutesClosed }: Starting,
  cgroup: CgroupName | undefined,
): Promise<{ port: number; server: Server }> {
  const { user, nameServers } = ground;
  const { port, server: held } = await holdPort(options.port ?? 0);
  undo.add(() => stopListening(held));
  const table = makeTableName(user.uid, session.id);
  await session.record({ nftTable: table });
  const guard = await openTableGuard({
    table,
    rules: makeUidRules({ table, uid: user.uid, port, cgroup, nameServers }),
    onLost: (reason) => {
      lost.abort(new ConsentError("sandbox_failed", `Cannot keep an agent held: ${reason}`));
      options.onNotice?.(`The agent was ended: ${reason}`);
    },
  });
  undo.add(() => Promise.resolve(guard[Symbol.asyncDispose]()));
  undo.add(() => openRoutes(user.uid));
  if (nameServers.length === 0 && hasRoutesClosed) await closeRoutes(user.uid);
  await refuseRunning(user); // from here on, whatever starts is held by the rules
  await stopListening(held);
  const { server } = await listenOnLoopback(port);
  undo.add(() => stopListening(server));
  return { port, server };
}

function spawnIn(
  { argv, options, holdOptions, ground, session }: Starting,
  {
    namespace,
    cgroups,
    home,
  }: { readonly namespace: UidNamespace; readonly cgroups: AgentCgroups; readonly home: string },
): SpawnedChild {
  const { user, helper, places, filter } = ground;
  const cwd = holdOptions.cwd ?? places.workspace?.path ?? home;
  const caps = parseCaps(options.caps);
  const { enter } = namespace;
  const hasFilter = filter !== undefined;
  const command = makeUidCommand({
    argv,
    user,
    session,
    cwd,
    enter,
    cgroups: cgroups.directories,
    helper,
    hasFilter,
    caps,
  });
  return spawnChain({ command, session, filter, streams: standardStreams(holdOptions) });
}

/** What was checked inside against what is claimed; the process that the agent will be. */
function confirm(
  { ground, report }: Starting,
  {
    stage,
    spawned,
    cgroups,
  }: { readonly stage: FirstStage; readonly spawned: SpawnedChild; readonly cgroups: AgentCgroups },
): ProcessMark {
  const { user, helper, filter } = ground;
  confirmFindings(report, stage.findings);
  const mark = findAgent(spawned.child, helper.isAvailable);
  confirmAgent(
    { user, mark, hasFilter: filter !== undefined, cgroups: cgroups.directories },
    stage.findings,
  );
  return mark;
}

/** Looks after an agent that runs, to its end. */
function superviseUid(
  { report, undo, stopped }: Starting,
  {
    namespace,
    spawned,
    mark,
  }: {
    readonly namespace: UidNamespace;
    readonly spawned: SpawnedChild;
    readonly mark: ProcessMark;
  },
): LinuxSandboxedProcess {
  const end = (): void => namespace.kill();
  stopped.addEventListener("abort", end, { once: true });
  if (stopped.aborted) end();
  const exited = spawned.exit.then(async (exit) => {
    stopped.removeEventListener("abort", end);
    await undo.all().catch(() => {}); // what is left is recorded; close() says so
    return exit;
  });
  return {
    report,
    pid: mark.pid,
    stdin: spawned.child.stdin ?? undefined,
    stdout: spawned.child.stdout ?? undefined,
    stderr: spawned.child.stderr ?? undefined,
    exited,
    kill: (signal) => void signalProcess(mark, parseSignal(signal)),
    close: async () => {
      end();
      await exited;
      await undo.all();
    },
  };
}

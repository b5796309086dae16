/**
 * Namespace child: starts bubblewrap with the first stage in it. What must not be seen on a command
 * line goes through descriptors.
 */
import type { ChildProcess, StdioOptions } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { Socket } from "node:net";
import { basename, dirname, join } from "node:path";
import { ConsentError } from "@acp/core";
import { coverInherited } from "./descriptors.js";
import { CHANNEL_FD, firstStageCommand } from "./first-stage.js";
import { type HeldNames, namesToWatch, watchNames } from "./held-names.js";
import { type HostTerminal, openHostTerminal } from "./host-terminal.js";
import { createJobControl, type JobControl } from "./job-control.js";
import { makeArguments, makeEnvironment } from "./namespace-arguments.js";
import { bwrapCommand, insideCommand, type NamespaceHost } from "./namespace-host.js";
import { type NamespaceOverlay, openOverlay } from "./namespace-overlay.js";
import type { NamespacePreparation } from "./namespace-prepare.js";
import { INSIDE, madeUpFiles, makeRoot, ownSources, writeEtc } from "./namespace-root.js";
import type { WatchedName } from "./held-again.js";
import type { ExpectedPlace, HoldOptions, ResourceCaps, Session } from "./parts.js";
import { fileIdAt, openPlaces, type OpenPlaces } from "./places.js";
import { childrenOf } from "./process-tree.js";
import { mountedHome } from "./private-home.js";
import { rlimitCommand } from "./resource-caps.js";
import { standardStreams, type StandardStreams } from "./standard-streams.js";
import { startTool } from "./tools.js";
import { shownPlaces } from "./workspace.js";
import { viewRoot } from "./namespace-view.js";
import { guardedPaths, type WorkspaceGuard } from "./workspace-guard.js";

/** The proxy's port inside: any would do, the agent has all of them to itself. */
export const PORT_INSIDE = 18_443;

/** Descriptors of the child. */
const FDS = {
  seccomp: 4,
  args: 5,
  control: 6,
  environment: 7,
  init: 8,
  terminal: 9,
  watch: 10,
  places: 11,
} as const;

/** What to start. */
export interface NamespaceStart {
  readonly prepared: NamespacePreparation;
  /** Caps that are rlimits. */
  readonly limits: ResourceCaps;
  readonly session: Session;
  readonly argv: readonly string[];
  readonly options: HoldOptions;
}

/** A child whose first stage waits for orders. */
export interface NamespaceChild {
  readonly process: ChildProcess;
  /** Left out: without native/init.c there is none. */
  readonly control: JobControl | undefined;
  /** Left out: nothing is held, or there is no native/init.c. */
  readonly names: HeldNames | undefined;
  /** What the agent has to see, and nothing else in its place. */
  readonly places: readonly ExpectedPlace[];
}

/**
 * Starts the child.
 *
 * @throws ConsentError `options_invalid` for an environment that cannot be given.
 */
export async function startNamespaceChild(start: NamespaceStart): Promise<NamespaceChild> {
  const { prepared, session, options } = start;
  const { host, user, places, node, filter, init } = prepared;
  const etc = join(session.directory, "etc");
  await writeEtc(etc, user);
  const { inside } = session;
  const { home, packages } = places;
  // Root's agent may not enter the directories above these.
  const [homeAt, packagesAt] = await Promise.all(
    [home, packages].map((path, at) => placeOf(path, { host, session, name: String(at) })),
  );
  using open = openShown(prepared, ownSources({ inside, etc, node }));
  using overlay = openOverlay(prepared, open, FDS.places);
  const sources = { open, overlay, etc, homeAt, packagesAt };
  const env = options.env({ port: PORT_INSIDE, files: INSIDE.files, home: INSIDE.home });
  const args = argumentsOf(start, sources, env);
  const [environment, names] = [makeEnvironment(env), namesToWatch(prepared.guard, open)];
  const streams = standardStreams(options);
  const terminal = init.isAvailable ? openHostTerminal(streams) : undefined;
  const child = spawnWith(commandOf(start, sources, terminal), {
    streams,
    terminal,
    init: init.isAvailable ? init.path : undefined,
    open,
    overlay,
  });
  feed(child, FDS.seccomp, filter);
  feed(child, FDS.args, args);
  const expected = await overlay.expected(child, expectedPlaces(open, { inside, etc, home }));
  if (!init.isAvailable)
    return { process: child, control: undefined, names: undefined, places: expected };
  feed(child, FDS.environment, environment);
  return { process: child, ...controlOf(child, { prepared, terminal, names }), places: expected };
}

/** Where bubblewrap finds what it mounts. */
interface Sources {
  readonly open: OpenPlaces;
  readonly overlay: NamespaceOverlay;
  readonly etc: string;
  readonly homeAt: string | undefined;
  readonly packagesAt: string | undefined;
}

/** What bubblewrap reads from its descriptor. */
function argumentsOf(
  { prepared, session: { inside }, options }: NamespaceStart,
  { open, overlay, etc, homeAt, packagesAt }: Sources,
  env: ReturnType<HoldOptions["env"]>,
): ReturnType<typeof makeArguments> {
  const { host, places, guard, node, caps, init } = prepared;
  return makeArguments({
    host,
    root: makeRoot({
      places,
      guard: heldOpen(guard, open),
      inside,
      etc,
      node,
      ...(homeAt !== undefined && { home: homeAt }),
      ...(packagesAt !== undefined && { packages: packagesAt }),
      scratchBytes: caps.scratchBytes,
      isAgents: host.variant !== "rooted",
      // Without our first process nobody would close the descriptors; then a name that leads
      // elsewhere is only found out afterwards.
      ...(init.isAvailable && {
        sourceOf: (path) => (overlay.isOverlaid(path) ? path : sourceOf(open, path)),
      }),
    }),
    env,
    cwd: options.cwd ?? places.workspace?.path ?? INSIDE.home,
    hasInit: init.isAvailable,
    seccompFd: FDS.seccomp,
  });
}

/** The command line: mounts, bubblewrap, our first process, the first stage, the agent's own. */
function commandOf(
  { prepared, limits, session, argv }: NamespaceStart,
  { overlay, homeAt, packagesAt }: Sources,
  terminal: HostTerminal | undefined,
): readonly string[] {
  const { host, user, places, node, init } = prepared;
  const stage = { node, stage: `${INSIDE.files}/first-stage.cjs`, name: session.id };
  return [
    ...overlay.outermost,
    ...mountedAt(places.home, homeAt),
    ...mountedAt(places.packages, packagesAt),
    ...bwrapCommand(host, user, overlay.command),
    "--args",
    String(FDS.args),
    "--",
    ...insideCommand(host, user),
    // The first process closes what the agent is not to have.
    ...(init.isAvailable
      ? [...initCommand(limits, terminal), ...firstStageCommand({ ...stage, closing: [] }, argv)]
      : [...rlimitCommand(limits), ...firstStageCommand(stage, argv)]),
  ];
}

interface ControlParts {
  readonly prepared: Pick<NamespacePreparation, "hold">;
  readonly terminal: HostTerminal | undefined;
  readonly names: readonly WatchedName[];
}

/** From here on the names are watched, also while the agent is held. */
function controlOf(
  child: ChildProcess,
  { prepared, terminal, names }: ControlParts,
): Pick<NamespaceChild, "control" | "names"> {
  const control = createJobControl(pipeOf(child, FDS.control), terminal);
  feed(child, FDS.watch, Buffer.from(names.map(({ path }) => `${path}\0`).join("")));
  if (names.length === 0) return { control, names: undefined };
  const end = (): void => void child.kill("SIGKILL"); // bubblewrap's end is that of all below it
  // While bubblewrap is our child, its number is nobody else's, and its one child is the first
  // process inside.
  const firstProcess = (): number | undefined =>
    child.pid === undefined || child.exitCode !== null ? undefined : childrenOf(child.pid)[0];
  return {
    control,
    names: watchNames({ names, control, firstProcess, helper: prepared.hold, end }),
  };
}

/** What the operator shows, where its names lead for this sandbox, and what is ours. */
function openShown({ places, guard }: NamespacePreparation, own: readonly string[]): OpenPlaces {
  const { home, packages, hidden, view } = places;
  return openPlaces({
    ...(view !== undefined && { root: viewRoot(view) }),
    shown: shownPlaces(places),
    own: [...own, ...[home, packages].filter((path) => path !== undefined)],
    hidden,
    guarded: guardedPaths(guard),
  });
}

/** Without what is gone since it was found: by its name, something else could be mounted. */
function heldOpen(guard: WorkspaceGuard, { all }: OpenPlaces): WorkspaceGuard {
  const held = (paths: readonly string[]): readonly string[] =>
    paths.filter((path) => all.some((each) => each.path === path));
  return {
    ...guard,
    readOnly: held(guard.readOnly),
    pinned: held(guard.pinned),
    writable: held(guard.writable),
  };
}

/** The descriptor of a place in the child, or of the directory that a file of ours lies in. */
function sourceOf({ all }: OpenPlaces, path: string): string {
  const at = all.findIndex((each) => each.path === path);
  if (at !== -1) return `/proc/self/fd/${FDS.places + at}`;
  const above = all.findIndex((each) => each.path === dirname(path));
  return above === -1 ? path : `/proc/self/fd/${FDS.places + above}/${basename(path)}`;
}

interface PlacePoint {
  readonly host: NamespaceHost;
  readonly session: Session;
  readonly name: string;
}

/**
 * Where bubblewrap finds a directory: itself, or a mount of it where the agent's user gets at it.
 */
async function placeOf(
  path: string | undefined,
  { host, session, name }: PlacePoint,
): Promise<string | undefined> {
  if (path === undefined || host.variant !== "dropped") return path;
  const point = join(session.directory, `mount-${name}`);
  await mkdir(point);
  return point;
}

function mountedAt(path: string | undefined, at: string | undefined): readonly string[] {
  return path === undefined || at === undefined || at === path ? [] : mountedHome(path, at);
}

interface OwnSources {
  readonly inside: string;
  readonly etc: string;
  readonly home: string | undefined;
}

/** Every place by its path inside. */
function expectedPlaces(
  { all }: OpenPlaces,
  { inside, etc, home }: OwnSources,
): readonly ExpectedPlace[] {
  return all.flatMap(({ path, fd, device, inode }) => {
    if (path === etc)
      return madeUpFiles().map(([name, at]) => ({
        path: at,
        ...fileIdAt(`/proc/self/fd/${fd}/${name}`),
      }));
    const at = path === inside ? INSIDE.files : path === home ? INSIDE.home : path;
    return [{ path: at, device, inode }];
  });
}

/**
 * native/init.c, named by its descriptor: where it lies need not be a place that the agent's user
 * may enter.
 */
function initCommand(
  { processes, openFiles, processMemoryBytes: data }: ResourceCaps,
  terminal: HostTerminal | undefined,
): readonly string[] {
  const numbers = {
    control: FDS.control,
    environment: FDS.environment,
    keep: CHANNEL_FD,
    watch: FDS.watch,
    processes,
    files: openFiles,
    ...(data !== undefined && { data }),
  };
  const shown =
    terminal === undefined ? {} : { terminal: FDS.terminal, background: terminal.isShared ? 1 : 0 };
  return [
    `/proc/self/fd/${FDS.init}`,
    ...Object.entries({ ...numbers, ...shown }).flatMap(([name, value]) => [
      `--${name}`,
      String(value),
    ]),
    ...(terminal?.streams ?? []).flatMap((fd) => ["--slave", String(fd)]),
    "--",
  ];
}

interface SpawnWith {
  readonly streams: StandardStreams;
  readonly terminal: HostTerminal | undefined;
  readonly init: string | undefined;
  readonly open: OpenPlaces;
  readonly overlay: NamespaceOverlay;
}

/**
 * In a session of its own: what a terminal sends to its foreground reaches the manager, and by it
 * the agent. Bubblewrap gets no terminal for its output, since it would show that inside as
 * /dev/console.
 */
function spawnWith(
  command: readonly string[],
  { streams, terminal, init, open, overlay }: SpawnWith,
): ChildProcess {
  const [input, output, error] = streams.map((stream, fd) =>
    fd < 2 && stream === "inherit" && terminal?.streams.includes(fd) === true ? "ignore" : stream,
  );
  const initFd = init === undefined ? undefined : openSync(init, "r");
  const held = [...open.all.map(({ fd }) => fd), ...overlay.stdio];
  const ofInit =
    initFd === undefined
      ? []
      : (["pipe", "pipe", initFd, terminal?.fd ?? "ignore", "pipe", ...held] as const);
  const stdio: Exclude<StdioOptions, string> = [
    input,
    output,
    error,
    "ipc",
    "pipe",
    "pipe",
    ...ofInit,
  ];
  try {
    return coverInherited(stdio, (covered) =>
      startTool(command, { stdio: covered, env: {}, isDetached: true }),
    );
  } finally {
    if (initFd !== undefined) closeSync(initFd);
  }
}

/** A child that is gone before it has read is told apart by its exit. */
function feed(child: ChildProcess, fd: number, bytes: Uint8Array): void {
  const pipe = pipeOf(child, fd);
  pipe.on("error", () => {});
  pipe.end(bytes);
}

function pipeOf(child: ChildProcess, fd: number): Socket {
  const pipe = child.stdio[fd];
  if (!(pipe instanceof Socket))
    throw new ConsentError(
      "sandbox_failed",
      "Cannot start an agent: bubblewrap could not be started",
    );
  return pipe;
}

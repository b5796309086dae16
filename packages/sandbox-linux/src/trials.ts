/**
 * Trials: commands that run without a network in a throw-away overlay of their workspace, at level
 * `full` or not at all. Nothing of the host is there but the system, the workspace without what is
 * covered, and what the operator lists. What they wrote is frozen as a review's, and can be taken
 * for a while.
 */
import { join } from "node:path";
import type { Readable } from "node:stream";
import {
  type Clock,
  ConsentError,
  type HeldTrial,
  type RunningTrial,
  systemClock,
  type TrialOrder,
} from "@acp/core";
import { createNamespaceSandbox } from "./namespace.js";
import type { ConfinementOptions, HeldAgent, LinuxSandboxedProcess } from "./parts.js";
import { removeTree } from "./remove-tree.js";
import { makeSnapshot } from "./review-snapshot.js";
import { takeChanges } from "./review-take.js";
import { findCovers } from "./trial-covers.js";
import type { FrozenTrial, TrialLimits, Trials } from "./trial-parts.js";
import { createTrialStore, type KeptTrial, SNAPSHOT, type TrialStore } from "./trial-store.js";
import { watchTrial } from "./trial-watch.js";

/** Options of {@link createTrials}. */
export interface TrialsOptions
  extends Pick<ConfinementOptions, "readable" | "hidden" | "programs" | "user"> {
  /**
   * Where trials write and are kept: a directory of this user only, in one that nobody else can
   * change. Created when the first trial starts.
   */
  readonly directory: string;
  /** Bounds of memory, processes and files of one trial; each has a default. */
  readonly caps?: ConfinementOptions["caps"];
  /** Limits of what a trial writes and of what is kept; each has a default. */
  readonly limits?: Partial<TrialLimits>;
  /** Source of time; the system's clock unless given. */
  readonly clock?: Clock;
}

/** A look, not a build farm. */
const CAPS = {
  processes: 256,
  memoryBytes: 2 * 2 ** 30,
  scratchBytes: 128 * 2 ** 20,
  openFiles: 1024,
} as const;
const LIMITS: TrialLimits = {
  writtenBytes: 128 * 2 ** 20,
  writtenEntries: 20_000,
  keptMs: 15 * 60_000,
  keptPerAgent: 4,
  kept: 16,
  keptBytes: 512 * 2 ** 20,
};
/** Settings and sources of this machine's own, in a system that is shown otherwise. */
const HIDDEN = ["/usr/local/etc", "/usr/local/src", "/usr/src"];
const ISOLATION = "full:namespace";
/** The workspace's own files, which a snapshot compares with what was written. */
const READ_FACTOR = 4;

/** One trial on its way. */
interface Trial {
  readonly order: TrialOrder;
  /** Its own directory, and the layers in it. */
  readonly directory: string;
  readonly layers: string;
  readonly store: TrialStore;
  readonly limits: TrialLimits;
  readonly memoryBytes: number;
}

/**
 * Makes the runner of trials that `createExecApprovalHub({ trials })` takes. It creates nothing
 * before the first trial.
 */
export function createTrials({
  directory,
  caps,
  limits,
  clock = systemClock,
  hidden = [],
  ...places
}: TrialsOptions): Trials {
  const all = { ...LIMITS, ...limits };
  const store = createTrialStore({ directory, clock, ...all });
  const closing = new AbortController();
  const hold = async (given: TrialOrder): Promise<HeldTrial<Readable, FrozenTrial>> => {
    const order = { ...given, signal: AbortSignal.any([given.signal, closing.signal]) };
    const own = await store.open();
    const confinement = { ...CAPS, ...caps };
    const layers = join(own, "layers");
    const { memoryBytes } = confinement;
    const trial: Trial = { order, directory: own, layers, store, limits: all, memoryBytes };
    const around = { ...places, caps: confinement, hidden: [directory, ...HIDDEN, ...hidden] };
    try {
      return await holdTrial(trial, around);
    } catch (error) {
      await removeTree(own);
      throw error;
    }
  };
  return {
    isolation: ISOLATION,
    hold,
    find: (agent, digest) => {
      const found = store.find(agent, digest);
      return found === undefined ? undefined : frozenOf(found);
    },
    keep: async (agent, digest) => {
      const found = store.find(agent, digest);
      if (found === undefined)
        throw new ConsentError(
          "options_invalid",
          "Cannot keep what a trial wrote: there is no such trial, or its time is over",
        );
      const taken = await takeChanges(found.snapshot, { digest, paths: "all", overwrites: false });
      if (taken.conflicts.length + taken.failed.length === 0) await store.remove(found);
      return taken;
    },
    [Symbol.asyncDispose]: async () => {
      closing.abort(new ConsentError("aborted", "Cannot run a trial: the trials are over"));
      await store.close();
    },
  };
}

/**
 * The command below limits of its own: a file's size, which no file system holds for us, and a
 * process's memory, where no control group does.
 */
function limited(
  { argv }: TrialOrder,
  { writtenBytes }: TrialLimits,
  memoryBytes: number,
): readonly string[] {
  const kib = (bytes: number): number => Math.ceil(bytes / 1024);
  // A limit that is lower already stays.
  const script = `ulimit -f ${kib(writtenBytes)}; ulimit -d ${kib(memoryBytes)}; exec "$@"`;
  return ["/bin/bash", "--noprofile", "--norc", "-c", script, "trial", ...argv];
}

/** What of the host is there, besides the workspace. */
type TrialPlaces = Pick<ConfinementOptions, "readable" | "hidden" | "programs" | "user" | "caps">;

async function holdTrial(
  trial: Trial,
  around: TrialPlaces,
): Promise<HeldTrial<Readable, FrozenTrial>> {
  const { order, layers, limits, memoryBytes } = trial;
  const covered = await findCovers(order);
  const workspace = { path: order.workspace, access: "overlay", layers } as const;
  const options = { ...around, workspace, covered, network: "none" } as const;
  const argv = limited(order, limits, memoryBytes);
  const held = await createNamespaceSandbox(options).hold(argv, {
    env: ({ home }) => ({ ...order.variables, HOME: home }),
    cwd: order.cwd,
    stdio: "pipe",
    stderr: "pipe",
    requiredLevel: "full",
    signal: order.signal,
  });
  return heldTrial(trial, held, covered);
}

function heldTrial(
  trial: Trial,
  held: HeldAgent,
  covered: readonly string[],
): HeldTrial<Readable, FrozenTrial> {
  return {
    covered,
    go: async () => {
      try {
        const sinceMs = systemClock.now();
        return runTrial(
          trial,
          await held.go({ onConnection: (socket) => socket.destroy() }),
          sinceMs,
        );
      } catch (error) {
        await removeTree(trial.directory);
        throw error;
      }
    },
    close: async () => {
      await held.close();
      await removeTree(trial.directory);
    },
  };
}

function runTrial(
  trial: Trial,
  agent: LinuxSandboxedProcess,
  sinceMs: number,
): RunningTrial<Readable, FrozenTrial> {
  const { layers, limits, memoryBytes, directory } = trial;
  const { stdout, stderr } = agent;
  // Asked for as pipes, they are there.
  if (stdout === undefined || stderr === undefined)
    throw new ConsentError("sandbox_failed", "Cannot run a trial: it has no output");
  let excess: string | undefined;
  const over = new AbortController();
  const isHeld = agent.report.items.some(
    ({ aspect, enforcement }) => aspect === "resource_caps" && enforcement === "enforced",
  );
  const watched = watchTrial({
    layer: join(layers, "upper"),
    pid: agent.pid,
    ...limits,
    memoryBytes: isHeld ? undefined : memoryBytes,
    signal: over.signal,
    onExcess: (why) => {
      excess = why;
      void agent.close();
    },
  });
  agent.stdin?.end();
  const exited = agent.exited.finally(() => over.abort());
  const end = async (): Promise<void> => {
    await agent.close();
    await watched;
  };
  return {
    stdout,
    stderr,
    exited,
    excess: () => excess,
    kill: () => void agent.close(),
    freeze: async () => {
      await end();
      return freeze(trial, sinceMs);
    },
    close: async () => {
      await end();
      await removeTree(directory);
    },
  };
}

async function freeze(
  { order, directory, layers, store, limits }: Trial,
  sinceMs: number,
): Promise<FrozenTrial> {
  try {
    const budget = {
      entries: limits.writtenEntries * READ_FACTOR,
      bytes: limits.writtenBytes * READ_FACTOR,
    };
    const { workspace, agent } = order;
    const snapshot = await makeSnapshot({
      workspace,
      layers,
      directory: join(directory, SNAPSHOT),
      sinceMs,
      limits: budget,
    });
    const frozen = frozenOf({ snapshot, argv: order.argv });
    await removeTree(layers);
    if (frozen.canKeep) await store.add({ agent, directory, snapshot, argv: order.argv });
    else await removeTree(directory);
    return frozen;
  } catch (error) {
    await removeTree(directory);
    throw error;
  }
}

function frozenOf({
  snapshot: { digest, listing },
  argv,
}: Pick<KeptTrial, "snapshot" | "argv">): FrozenTrial {
  const { changes, refused, isComplete, workspace } = listing;
  return {
    digest,
    changes,
    refused,
    workspace: workspace.path,
    argv,
    canKeep: isComplete && changes.some(({ apart }) => apart === null),
  };
}

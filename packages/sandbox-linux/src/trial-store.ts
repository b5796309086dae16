/**
 * Trial store: what trials wrote and can still be taken, each in a directory whose name says which
 * process made it. It lives as long as that process; a later one removes what is left of one that
 * was killed.
 */
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Clock, ConsentError } from "@acp/core";
import { trustedPath } from "@acp/host";
import { isProcessGone, ownProcessName } from "./process-name.js";
import { removeTree } from "./remove-tree.js";
import type { ReviewSnapshot } from "./review-parts.js";
import type { TrialLimits } from "./trial-parts.js";

/** One that can be taken. */
export interface KeptTrial {
  readonly agent: string;
  readonly argv: readonly string[];
  /** Holds the snapshot, and nothing else that matters. */
  readonly directory: string;
  readonly snapshot: ReviewSnapshot;
  readonly bytes: number;
}

/** All of one process. */
export interface TrialStore {
  /** Makes the directory of a new one. */
  open(): Promise<string>;
  /** Keeps one for its time, in place of older ones where it is too much. */
  add(trial: Omit<KeptTrial, "bytes">): Promise<void>;
  find(agent: string, digest: string): KeptTrial | undefined;
  remove(trial: KeptTrial): Promise<void>;
  /** Removes all, and keeps none any more. */
  close(): Promise<void>;
}

/** What the store is told. */
export interface StoreParts
  extends Pick<TrialLimits, "keptMs" | "keptPerAgent" | "kept" | "keptBytes"> {
  readonly directory: string;
  readonly clock: Clock;
}

const NAME = /^(?<maker>\d+-\d+-\d+)-[0-9a-f]{16}$/u;
/** Where a trial's snapshot is, in its directory. */
export const SNAPSHOT = "snapshot";

/** Makes one. Nothing is touched before the first trial. */
export function createTrialStore(parts: StoreParts): TrialStore {
  const { directory, clock, keptMs, keptPerAgent, kept, keptBytes } = parts;
  const all: KeptTrial[] = [];
  const over = new AbortController();
  const remove = async (trial: KeptTrial): Promise<void> => {
    const at = all.indexOf(trial);
    if (at !== -1) all.splice(at, 1);
    await removeTree(trial.directory);
  };
  const makeRoom = async (trial: KeptTrial): Promise<void> => {
    const own = (): readonly KeptTrial[] => all.filter(({ agent }) => agent === trial.agent);
    for (
      let [oldest] = own();
      oldest !== undefined && own().length >= keptPerAgent;
      [oldest] = own()
    )
      await remove(oldest);
    const sum = (): number => all.reduce((bytes, each) => bytes + each.bytes, trial.bytes);
    // Who has most gives first: nobody's flood is at the others' cost.
    for (
      let next = largest(all);
      next !== undefined && (all.length >= kept || sum() > keptBytes);
      next = largest(all)
    )
      await remove(next);
  };
  return {
    open: async () => {
      over.signal.throwIfAborted();
      await prepare(directory);
      const path = join(directory, `${ownProcessName()}-${randomBytes(8).toString("hex")}`);
      await mkdir(path, { mode: 0o700 });
      return path;
    },
    add: async (given) => {
      const trial = { ...given, bytes: sizeOf(given.snapshot) };
      if (over.signal.aborted || trial.bytes > keptBytes) return removeTree(trial.directory);
      await makeRoom(trial);
      all.push(trial);
      clock.sleep(keptMs, { signal: over.signal, background: true }).then(
        () => remove(trial).catch(() => {}), // the next process tries again
        () => {},
      );
    },
    find: (agent, digest) =>
      all.find((each) => each.agent === agent && each.snapshot.digest === digest),
    remove,
    close: async () => {
      over.abort(new Error("the trials are over"));
      for (let [first] = all; first !== undefined; [first] = all) await remove(first);
    },
  };
}

/** The oldest of the agent that has most. */
function largest(all: readonly KeptTrial[]): KeptTrial | undefined {
  const bytesOf = (agent: string): number =>
    all.reduce((sum, each) => sum + (each.agent === agent ? each.bytes + 1 : 0), 0);
  return all.reduce<KeptTrial | undefined>(
    (most, each) => (most === undefined || bytesOf(each.agent) > bytesOf(most.agent) ? each : most),
    undefined,
  );
}

function sizeOf({ directory }: ReviewSnapshot): number {
  return ["content", "changes.json"].reduce(
    (sum, name) => sum + statSync(join(directory, name)).size,
    0,
  );
}

/** @throws ConsentError `options_invalid` where somebody else could change what is kept there. */
async function prepare(directory: string): Promise<void> {
  const above = trustedPath(dirname(directory));
  if (typeof above !== "string") throw refused(directory, above.reason);
  await mkdir(directory, { mode: 0o700 }).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  });
  const own = trustedPath(directory);
  if (typeof own !== "string") throw refused(directory, own.reason);
  for (const name of await readdir(directory)) {
    const maker = NAME.exec(name)?.groups?.["maker"];
    if (maker !== undefined && isProcessGone(maker))
      await removeTree(join(directory, name)).catch(() => {});
  }
}

function refused(path: string, why: string): ConsentError {
  return new ConsentError("options_invalid", `Cannot keep trials in "${path}": ${why}`);
}

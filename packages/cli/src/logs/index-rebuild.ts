/**
 * Index rebuild: a gate that opens a log reads what the log's index lacks, for what was noted of
 * keys, vault, grants and passkeys and for what is open. Where that is much, because an index is
 * missing or damaged, whoever serves clients has it made first, in slices, and opens nothing until
 * it is done: no consent comes from half of it.
 */
import { readIndexCoverage, rebuildAuditIndex } from "@acp/audit";
import type { IndexCoverage } from "@acp/audit";
import { asError, ConsentError, isConsentError } from "@acp/core";
import type { HomePaths } from "@acp/home";
import { readIndexKey } from "./index-key.js";
import { listAuditFiles } from "./log-files.js";

/** What a start may read of all logs behind their indexes: under a second. */
export const LAG_BYTES_MAX: number = 16 * 1024 * 1024;

/** Makes the indexes of a home where much of them is missing. */
export interface IndexRebuild extends AsyncDisposable {
  /**
   * Resolves where gates may be opened. Otherwise the indexes are being made from now on.
   *
   * @throws ConsentError `index_rebuilding`, with how far they are.
   */
  check(): Promise<void>;
  /** How far it is, of a hundred; `undefined` where nothing is being made. */
  percent(): number | undefined;
  /** Resolves when gates may be opened. */
  readonly whole: Promise<void>;
}

/** Parts of {@link createIndexRebuild}. */
export interface RebuildParts {
  readonly home: Pick<HomePaths, "dir" | "keysDir">;
  /** Hears that it begins and that it is over. */
  readonly say?: (text: string) => void;
  /** In place of {@link LAG_BYTES_MAX}; for tests. */
  readonly lagBytesMax?: number;
}

/** How far the indexes of a home's logs come, for each log that can be read; none without a key. */
export async function readIndexLag(
  home: Pick<HomePaths, "dir" | "keysDir">,
): Promise<ReadonlyMap<string, IndexCoverage>> {
  const key = await readIndexKey(home);
  const found = new Map<string, IndexCoverage>();
  if (key === undefined) return found;
  for (const path of await listAuditFiles(home.dir)) {
    const coverage = await readIndexCoverage(path, key).catch((error: unknown) => {
      // What is wrong with a log is said by whoever opens it.
      if (!isConsentError(error)) throw error;
      return undefined;
    });
    if (coverage !== undefined) found.set(path, coverage);
  }
  return found;
}

/** How far they are together, of a hundred: never a hundred while something is missing. */
export function percentOf(lag: ReadonlyMap<string, IndexCoverage>): number {
  const all = [...lag.values()];
  const bytes = all.reduce((sum, each) => sum + each.bytes, 0);
  const covered = all.reduce((sum, each) => sum + each.covered, 0);
  return bytes === covered ? 100 : Math.min(99, Math.floor((100 * covered) / bytes));
}

/** Bytes that their next opening reads. */
export function lagOf(lag: ReadonlyMap<string, IndexCoverage>): number {
  return [...lag.values()].reduce((sum, { bytes, covered }) => sum + bytes - covered, 0);
}

/** Creates it; nothing is looked at yet. */
export function createIndexRebuild({
  home,
  say = () => undefined,
  lagBytesMax = LAG_BYTES_MAX,
}: RebuildParts): IndexRebuild {
  const stop = new AbortController();
  let whole = (): void => undefined;
  const isWhole = new Promise<void>((resolve) => {
    whole = resolve;
  });
  let running: Promise<void> | undefined;
  let progress: Map<string, IndexCoverage> | undefined;
  const look = async (): Promise<void> => {
    const lag = await readIndexLag(home);
    if (lagOf(lag) <= lagBytesMax) return whole();
    progress = new Map(lag);
    say(`The index of the audit logs is being rebuilt (${percentOf(lag)} %)`);
    running = rebuildAll(home, progress, stop.signal).then((isOver) => {
      progress = undefined;
      if (!isOver) return;
      say("The index of the audit logs is whole");
      whole();
    });
  };
  let looking: Promise<void> | undefined;
  return {
    async check() {
      // A look that failed is repeated by the next one who asks.
      await (looking ??= look().catch((error: unknown) => {
        looking = undefined;
        throw error;
      }));
      if (progress !== undefined) throw rebuilding(percentOf(progress));
      if (stop.signal.aborted) throw rebuilding(0);
    },
    percent: () => (progress === undefined ? undefined : percentOf(progress)),
    whole: isWhole,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

/**
 * Makes for some time what the indexes of a home lack, for a process that must answer soon; the next
 * one goes on there.
 *
 * @throws ConsentError `index_rebuilding`, with how far they are, where that was not enough.
 */
export async function makeIndexFor(ms: number, parts: RebuildParts): Promise<void> {
  let percent = 0;
  const signal = AbortSignal.timeout(ms);
  try {
    await makeIndexWhole({ ...parts, signal, onPercent: (now) => (percent = now) });
  } catch (error) {
    if (!signal.aborted) throw error;
    throw rebuilding(percent);
  }
}

/** Who waits for an index. */
export interface Waiting extends RebuildParts {
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  /** Hears how far it is, of a hundred. */
  readonly onPercent: (percent: number) => void;
}

const TELL_MS = 200;

/**
 * Makes what the indexes of a home lack, for whoever serves nobody meanwhile; what is there by then
 * stays where it is ended.
 *
 * @throws the signal's reason.
 */
export async function makeIndexWhole({ signal, onPercent, ...parts }: Waiting): Promise<void> {
  await using rebuild = createIndexRebuild(parts);
  try {
    return await rebuild.check();
  } catch (error) {
    // A home that cannot be looked at is for whoever opens it.
    if (!isConsentError(error, "index_rebuilding")) return;
  }
  const tell = setInterval(() => onPercent(rebuild.percent() ?? 100), TELL_MS);
  try {
    await untilAborted(rebuild.whole, signal);
  } finally {
    clearInterval(tell);
  }
}

function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(asError(signal.reason));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    void work.then(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
  });
}

const rebuilding = (percent: number): ConsentError =>
  new ConsentError(
    "index_rebuilding",
    `The index of the audit logs is being rebuilt, ${percent} % are done, and nothing is allowed until it is whole; call again later`,
  );

/** True unless it was stopped. What does not work is left to whoever opens that log, and says so. */
async function rebuildAll(
  { dir, keysDir }: Pick<HomePaths, "dir" | "keysDir">,
  progress: Map<string, IndexCoverage>,
  signal: AbortSignal,
): Promise<boolean> {
  const indexKey = await readIndexKey({ keysDir });
  if (indexKey === undefined) return true;
  for (const path of await listAuditFiles(dir)) {
    const onRead = (more: number): void => {
      const { bytes = 0, covered = 0 } = progress.get(path) ?? {};
      progress.set(path, { bytes, covered: Math.min(bytes, covered + more) });
    };
    try {
      await rebuildAuditIndex(path, { indexKey, signal, onRead });
    } catch {
      // Somebody else writes it, and so its index, or it cannot be read.
    }
    if (signal.aborted) return false;
  }
  return true;
}

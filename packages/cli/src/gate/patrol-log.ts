/**
 * Patrol log: while a gate runs, what was verified of the home's logs too long ago is verified again,
 * so that damage to the past is found while it can still be told when it happened. A twentieth of a
 * core at most. The index of each log says how far that came, so that the next gate goes on there; a
 * home without a checkpoint key has no index, and `acp audit verify` alone reads its past.
 */
import { setTimeout } from "node:timers/promises";
import { checkAuditPast } from "@acp/audit";
import type { BadLine } from "@acp/audit";
import { isConsentError, systemClock } from "@acp/core";
import type { HomePaths } from "@acp/home";
import { readIndexKey } from "../logs/index-key.js";
import { listAuditFiles } from "../logs/log-files.js";
import { readFault } from "../logs/log-latch.js";

/** Parts of {@link patrolLogs}. */
export interface PatrolParts {
  readonly home: Pick<HomePaths, "dir" | "keysDir">;
  /** Hears of a log's first bad line. */
  readonly onFault: (path: string, bad: BadLine) => Promise<void>;
  /** Waits, or rejects when it is aborted; for tests. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
}

/** A gate that starts has other things to do. */
const FIRST_MS = 60_000;
const ROUND_MS = 3_600_000;
const AGAIN_MS = 30 * 24 * 3_600_000;
const SHARE = 0.05;

/** Patrols until it is disposed of. */
export function patrolLogs(parts: PatrolParts): AsyncDisposable {
  const { wait = sleep } = parts;
  const stop = new AbortController();
  const { signal } = stop;
  const walk = async (): Promise<void> => {
    for (await wait(FIRST_MS, signal); !signal.aborted; await wait(ROUND_MS, signal))
      await round({ ...parts, wait }, signal);
  };
  const walking = walk().catch(() => undefined); // it was stopped, or the folder cannot be read
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await walking;
    },
  };
}

async function round(
  { home, onFault, wait, now = () => systemClock.now() }: PatrolParts,
  signal: AbortSignal,
): Promise<void> {
  const indexKey = await readIndexKey(home);
  if (indexKey === undefined) return;
  for (const path of await listAuditFiles(home.dir)) {
    // One that is known to be broken is for a person.
    if ((await readFault(path)) !== undefined) continue;
    const options = { indexKey, now, maxAgeMs: AGAIN_MS, share: SHARE, wait, signal };
    // What cannot be read is the next look's.
    const check = await checkAuditPast(path, options).catch((error: unknown) => {
      if (!isConsentError(error) || signal.aborted) throw error;
      return undefined;
    });
    if (check?.firstBad !== undefined) await onFault(path, check.firstBad);
  }
}

const sleep = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  setTimeout(ms, undefined, { ref: false, ...(signal !== undefined && { signal }) });

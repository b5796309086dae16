/**
 * Patrol log: while gates run, what was verified of the home's logs too long ago is verified again,
 * so that damage to the past is found while it can still be told when it happened. A twentieth of a
 * core at most, however many gates of the home a process has. The index of each log says how far
 * that came, so that the next process goes on there; in a home without a checkpoint key, which has
 * no index, each process begins anew.
 */
import { setTimeout } from "node:timers/promises";
import { checkAuditPast, verifyAuditLog } from "@acp/audit";
import type { BadLine, SlicesOptions } from "@acp/audit";
import { isConsentError, systemClock } from "@acp/core";
import type { HomePaths } from "@acp/home";
import { readIndexKey } from "../logs/index-key.js";
import { listAuditFiles } from "../logs/log-files.js";
import { readFault } from "../logs/log-latch.js";

/** Parts of {@link patrolLogs}. */
export interface PatrolParts {
  readonly home: Pick<HomePaths, "dir" | "keysDir">;
  /** The log that this gate writes. */
  readonly own: string;
  /** Hears of a log's first bad line: of its own log, or where no gate here writes that log. */
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

/** The patrol of one home. */
interface Patrol {
  /** The gates that it is for, in the order in which they came. */
  readonly gates: Set<PatrolParts>;
  /** Settles when it is over. */
  end(): Promise<void>;
}

/** The patrols of this process, by their home. */
const patrols = new Map<string, Patrol>();

/** Patrols until it is disposed of, and each other gate of this home and process is, too. */
export function patrolLogs(parts: PatrolParts): AsyncDisposable {
  const { dir } = parts.home;
  const patrol = patrols.get(dir) ?? startPatrol(parts);
  patrols.set(dir, patrol);
  patrol.gates.add(parts);
  return {
    async [Symbol.asyncDispose]() {
      patrol.gates.delete(parts);
      if (patrol.gates.size > 0) return;
      if (patrols.get(dir) === patrol) patrols.delete(dir);
      await patrol.end();
    },
  };
}

function startPatrol({ home, wait = sleep, now = () => systemClock.now() }: PatrolParts): Patrol {
  const stop = new AbortController();
  const { signal } = stop;
  const gates = new Set<PatrolParts>();
  const onFault = async (path: string, bad: BadLine): Promise<void> => {
    const [first] = gates;
    const writer = [...gates].find(({ own }) => own === path) ?? first;
    await writer?.onFault(path, bad);
  };
  const checkedMs = new Map<string, number>();
  const walk = async (): Promise<void> => {
    for (await wait(FIRST_MS, signal); !signal.aborted; await wait(ROUND_MS, signal))
      await round({ home, onFault, wait, now, checkedMs }, signal);
  };
  const walking = walk().catch(() => undefined); // it was stopped, or the folder cannot be read
  return {
    gates,
    async end() {
      stop.abort();
      await walking;
    },
  };
}

interface Round extends Required<Pick<PatrolParts, "home" | "onFault" | "wait" | "now">> {
  /** When a log without an index was proven good by this process. */
  readonly checkedMs: Map<string, number>;
}

async function round(
  { home, onFault, wait, now, checkedMs }: Round,
  signal: AbortSignal,
): Promise<void> {
  const indexKey = await readIndexKey(home);
  for (const path of await listAuditFiles(home.dir)) {
    // One that is known to be broken is for a person.
    if ((await readFault(path)) !== undefined) continue;
    const slices = { share: SHARE, wait, signal };
    const check = (): Promise<BadLine | undefined> =>
      indexKey === undefined
        ? checkWhole(path, { ...slices, nowMs: now(), checkedMs })
        : checkAuditPast(path, { indexKey, now, maxAgeMs: AGAIN_MS, ...slices }).then(
            ({ firstBad }) => firstBad,
          );
    // What cannot be read is the next look's.
    const firstBad = await check().catch((error: unknown) => {
      if (!isConsentError(error) || signal.aborted) throw error;
      return undefined;
    });
    if (firstBad !== undefined) await onFault(path, firstBad);
  }
}

/** Without an index all of a log is read, once in 30 days of this process. */
async function checkWhole(
  path: string,
  {
    nowMs,
    checkedMs,
    ...slices
  }: Pick<Round, "checkedMs"> & { readonly nowMs: number } & SlicesOptions,
): Promise<BadLine | undefined> {
  if (nowMs - (checkedMs.get(path) ?? -Infinity) < AGAIN_MS) return undefined;
  const { firstBad } = await verifyAuditLog(path, slices);
  // Somebody is just writing it.
  if (firstBad?.code === "torn_line") return undefined;
  if (firstBad === undefined) checkedMs.set(path, nowMs);
  return firstBad;
}

const sleep = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  setTimeout(ms, undefined, { ref: false, ...(signal !== undefined && { signal }) });

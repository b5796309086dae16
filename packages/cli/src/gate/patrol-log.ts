/**
 * Patrol log: while a gate runs, the full files of its log are verified one after another, so that
 * damage to the past is found while it can still be told when it happened. A twentieth of a core at
 * most; a file is read once, and again when somebody touched it or a month has passed.
 */
import { lstat } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout } from "node:timers/promises";
import { listArchives, verifyAuditLog } from "@acp/audit";
import type { BadLine } from "@acp/audit";
import { isConsentError } from "@acp/core";

/** Parts of {@link patrolLog}. */
export interface PatrolParts {
  /** The log. */
  readonly path: string;
  readonly onFault: (bad: BadLine) => Promise<void>;
  /** Waits, or rejects when it is aborted; for tests. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Gates that run for a shorter time verify nothing: each start would read the same again. */
const FIRST_MS = 600_000;
const ROUND_MS = 600_000;
const AGAIN_MS = 30 * 24 * 3_600_000;

/** Patrols until it is disposed of. */
export function patrolLog({ path, onFault, wait = sleep }: PatrolParts): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const known = new Map<string, { readonly mark: string; readonly atMs: number }>();
  const verify = async (file: string): Promise<void> => {
    const { size, mtimeNs, ino } = await lstat(file, { bigint: true });
    const mark = `${size} ${mtimeNs} ${ino}`;
    const before = known.get(file);
    const startMs = performance.now();
    if (before?.mark === mark && startMs - before.atMs < AGAIN_MS) return;
    const { firstBad } = await verifyAuditLog(file, { signal });
    if (firstBad !== undefined) await onFault({ ...firstBad, file: basename(file) });
    known.set(file, { mark, atMs: startMs });
    await wait(19 * (performance.now() - startMs), signal);
  };
  const walk = async (): Promise<void> => {
    for (await wait(FIRST_MS, signal); !signal.aborted; await wait(ROUND_MS, signal))
      for (const { path: file } of await listArchives(path))
        await verify(file).catch((error: unknown) => {
          // Retention removes files; one that cannot be read is the next look's.
          const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
          if (!isGone && !isConsentError(error)) throw error;
        });
  };
  const walking = walk().catch(() => undefined); // it was stopped, or the folder cannot be read
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await walking;
    },
  };
}

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  setTimeout(ms, undefined, { signal, ref: false });

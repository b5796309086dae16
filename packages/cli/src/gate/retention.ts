/**
 * Retention: while a gate runs it removes the oldest full files of its log, as config.yml says.
 * What the files of the home are held against and which policy is in force is noted again first; policy texts
 * that no log names any more go with them.
 */
import { readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { pruneAuditLog } from "@acp/audit";
import type { AuditLog } from "@acp/audit";
import type { Home } from "@acp/home";
import { carryMarks } from "../rollback/carry-marks.js";
import { carryPolicyNotes } from "./carry-policy-notes.js";
import { prunePolicies } from "./kept-policies.js";

/** Parts of {@link keepRetention}. */
export interface RetentionParts {
  readonly home: Home;
  readonly audit: AuditLog;
  /** Full files that stay. */
  readonly keepFiles: number;
  readonly onRemoved: (names: readonly string[]) => void;
  readonly onError: (error: unknown) => void;
  /** Hears the work that is to be done at once and then once an hour; for tests. */
  readonly every?: (work: () => void) => Disposable;
}

const EVERY_MS = 3_600_000;
const FULL_FILE = /\.(\d{12})$/;

/**
 * Removes what is too old, now and while it is not disposed of. Waits for what is under way when it
 * is.
 */
export function keepRetention(parts: RetentionParts): AsyncDisposable {
  const { onError, every = hourly } = parts;
  let running: Promise<void> | undefined;
  const timer = every(() => {
    running ??= prune(parts)
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  });
  return {
    async [Symbol.asyncDispose]() {
      timer[Symbol.dispose]();
      await running;
    },
  };
}

function hourly(work: () => void): Disposable {
  work();
  const timer = setInterval(work, EVERY_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

async function prune({ home, audit, keepFiles, onRemoved }: RetentionParts): Promise<void> {
  const starts = await fullFileStarts(audit.path);
  const firstKept = starts.at(-keepFiles);
  if (firstKept === undefined || starts.length <= keepFiles) return;
  await carryMarks(home, audit, firstKept);
  await carryPolicyNotes(audit, firstKept);
  const removed = await pruneAuditLog(audit, { keepFiles });
  if (removed.length > 0) onRemoved(removed);
  await prunePolicies(home.dir, Date.now());
}

/** Numbers of the first events of a log's full files, in order. */
async function fullFileStarts(path: string): Promise<readonly number[]> {
  const name = basename(path);
  return (await readdir(dirname(path)))
    .filter((each) => each.startsWith(`${name}.`) && each.length === name.length + 13)
    .flatMap((each) => FULL_FILE.exec(each)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

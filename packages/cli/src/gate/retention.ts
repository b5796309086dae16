/**
 * Retention: while a gate runs it removes the oldest full files of the home's logs, as config.yml
 * says: of its own, and of those that nobody writes. What the files of the home are held against and
 * which policy is in force is noted again first; policy texts
 * that no log names any more go with them.
 */
import { openAuditLog, pruneAuditLog } from "@acp/audit";
import type { AuditLog, AuditLogOptions } from "@acp/audit";
import { isConsentError } from "@acp/core";
import type { Home } from "@acp/home";
import type { Retention } from "../logs/kept-terms.js";
import { listAuditFiles } from "../logs/log-files.js";
import { carryMarks } from "../rollback/carry-marks.js";
import { carryPolicyNotes } from "./carry-policy-notes.js";
import { filesToRemove } from "./files-to-remove.js";
import { prunePolicies } from "./kept-policies.js";

/** Parts of {@link keepRetention}. */
export interface RetentionParts {
  readonly home: Home;
  readonly audit: AuditLog;
  /** What stays. */
  readonly retention: Retention;
  /** What another log of the home is opened with. */
  readonly optionsOf: (path: string) => AuditLogOptions;
  readonly onRemoved: (path: string, names: readonly string[]) => void;
  readonly onError: (error: unknown) => void;
  /** Hears the work that is to be done at once and then once an hour; for tests. */
  readonly every?: (work: () => void) => Disposable;
}

const EVERY_MS = 3_600_000;

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

async function prune(parts: RetentionParts): Promise<void> {
  const { home, audit, optionsOf } = parts;
  await pruneLog(parts, audit.path, (use) => use(audit));
  // Those that nobody writes any more have nobody else.
  for (const path of await listAuditFiles(home.dir))
    if (path !== audit.path)
      await pruneLog(parts, path, async (use) => {
        await using log = await openAuditLog(optionsOf(path));
        await use(log);
      }).catch((error: unknown) => {
        if (!isConsentError(error, "audit_busy")) throw error;
      });
}

async function pruneLog(
  { home, retention, onRemoved }: RetentionParts,
  path: string,
  withLog: (use: (log: AuditLog) => Promise<void>) => Promise<void>,
): Promise<void> {
  const due = await filesToRemove(home.dir, path, retention);
  if (due === undefined) return;
  await withLog(async (log) => {
    await carryMarks(home, log, due.firstKept);
    await carryPolicyNotes(home, log, due.firstKept);
    const removed = await pruneAuditLog(log, due);
    if (removed.length > 0) onRemoved(path, removed);
  });
  await prunePolicies(home.dir, Date.now());
}

/** Checkpoints of a log that is whole: there, readable, and this home's. */
import {
  checkpointsPath,
  noteVerifier,
  openAuditLog,
  openCheckpoint,
  readCheckpoints,
} from "@acp/audit";
import type { AuditVerification, CheckpointClaims } from "@acp/audit";
import { logEvent, randomIds, systemClock } from "@acp/core";
import { exists } from "../../home/exists.js";
import type { ClaimSources } from "../../logs/claims.js";
import { readAuditConfig } from "../../logs/log-settings.js";
import { auditLogOptions } from "../../logs/open-audit.js";
import type { DoctorContext } from "../context.js";
import { makeFound } from "../finding.js";
import type { Found, Mend } from "../finding.js";
import { setAside } from "../mend/set-aside.js";

/** A log whose lines are good. */
export interface GoodLog {
  readonly context: DoctorContext;
  readonly path: string;
  readonly sources: ClaimSources;
  /** Its checkpoints, or why they cannot be read; `undefined` where no key is trusted. */
  readonly claims: CheckpointClaims | Error | undefined;
  readonly result: AuditVerification;
  /** Whether a live process writes it. */
  readonly isWritten: boolean;
}

/** What is wrong with the checkpoints of a log. */
export async function checkpointsFound(log: GoodLog): Promise<readonly Found[]> {
  const { context, path, sources, claims } = log;
  const missing: Found[] = [];
  for (const directory of sources.directories)
    if (!(await exists(directory)))
      missing.push(
        makeFound("witness_missing", { path: directory, found: "The directory is not there" }),
      );
  if (claims instanceof Error) {
    const found = claims.message;
    const mend = signAgain(context, path, found);
    return [
      ...missing,
      makeFound("checkpoints_broken", { path: checkpointsPath(path), found, mend }),
    ];
  }
  return claims === undefined ? missing : [...missing, ...(await notesFound(log, claims))];
}

async function notesFound(log: GoodLog, claims: CheckpointClaims): Promise<readonly Found[]> {
  const { context, result, isWritten } = log;
  const path = checkpointsPath(log.path);
  const beside = await readCheckpoints(path);
  if (beside.length === 0) {
    if (result.events === 0 || isWritten) return [];
    const found = `There are no checkpoints of its ${result.events} events`;
    const mend = signAgain(context, log.path, found);
    return [makeFound("checkpoints_emptied", { path, found, mend })];
  }
  const verifiers = claims.verifierKeys.map(noteVerifier);
  const reasonOf = (note: string): string | undefined => {
    const opened = openCheckpoint(note, verifiers);
    if (!opened.ok) return opened.reason;
    return opened.checkpoint.origin === claims.origin
      ? undefined
      : `it is of another log, "${opened.checkpoint.origin}"`;
  };
  const { firstBad } = result.checkpoints ?? {};
  const reason = toOpen(context, beside, { claims, isBad: firstBad !== undefined })
    .map(reasonOf)
    .find(Boolean);
  if (reason !== undefined) {
    const mend = signAgain(context, log.path, reason);
    return [makeFound("checkpoints_foreign", { path, found: reason, mend })];
  }
  if (firstBad === undefined) return [];
  const found = `Checkpoint ${firstBad.number}: ${firstBad.reason}`;
  return [makeFound("witness_foreign", { path: log.path, found })];
}

/**
 * Each signature takes long to check: only where the verifier found a bad one or did not look, and of
 * those that name another log or key.
 */
function toOpen(
  { isQuick, isFull }: DoctorContext,
  beside: readonly string[],
  { claims, isBad }: { readonly claims: CheckpointClaims; readonly isBad: boolean },
): readonly string[] {
  if (isQuick) return beside.slice(-1);
  if (isBad) return beside;
  if (isFull) return [];
  const { origin, verifierKeys } = claims;
  const names = verifierKeys.map((key) => `\n\u2014 ${key.slice(0, key.indexOf("+"))} `);
  return beside.filter(
    (note) =>
      (origin !== undefined && !note.startsWith(`${origin}\n`)) ||
      !names.some((name) => note.includes(name)),
  );
}

/** Sets the checkpoints aside, says so in the log, and signs where it is now. */
function signAgain({ home, io }: DoctorContext, path: string, why: string): Mend {
  return {
    what: `set the checkpoints of ${path} aside, say so in the log, and sign it as it is now`,
    note: "own",
    async run() {
      const beside = checkpointsPath(path);
      const aside = (await exists(beside))
        ? await setAside(home, beside)
        : "There were no checkpoints";
      const optionsOf = await auditLogOptions(home, {
        config: await readAuditConfig({ home, io }),
      });
      await using log = await openAuditLog(optionsOf(path));
      const stamp = { id: randomIds.next("ae"), atMs: systemClock.now() };
      const text = `${aside}. ${why}`;
      await log.append([logEvent("gate_notice", stamp, { notice: "doctor_fixed", text })]);
      return `${aside}; the log is signed as it is now`;
    },
  };
}

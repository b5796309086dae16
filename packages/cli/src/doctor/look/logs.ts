/**
 * Examination of the audit logs: every one is read whole and compared with what its index says, and
 * whatever differs is verified as `acp audit verify` does it; what that finds becomes a finding. With
 * --full everything is verified so, with --quick only how each ends is looked at.
 */
import { asError } from "@acp/core";
import { openAuditLog, verifyAuditLog, verifyIndexedLog } from "@acp/audit";
import type { AuditVerification, BadLine, CheckpointClaims } from "@acp/audit";
import { basename, dirname, join } from "node:path";
import { claimsOf, claimSources, logsToVerify } from "../../logs/claims.js";
import type { ClaimSources } from "../../logs/claims.js";
import { readKeySeam, readKeySeams } from "../../logs/checkpoint-seams.js";
import { readIndexKey } from "../../logs/index-key.js";
import { listAuditFiles } from "../../logs/log-files.js";
import { clearFault, readFault } from "../../logs/log-latch.js";
import type { FoundFault } from "../../logs/log-latch.js";
import { readAuditConfig } from "../../logs/log-settings.js";
import { auditLogOptions } from "../../logs/open-audit.js";
import { exists } from "../../home/exists.js";
import { createPrinter } from "../../printer.js";
import type { DoctorContext } from "../context.js";
import type { Examination } from "../examination.js";
import type { FindingCode } from "../codes.js";
import { makeFound } from "../finding.js";
import type { Found, Mend } from "../finding.js";
import { quarantineLog } from "../mend/quarantine-log.js";
import type { LogFault } from "../mend/quarantine-plan.js";
import { readPlans } from "../mend/quarantine-plan.js";
import { checkpointsFound } from "./checkpoints.js";
import { hasNul, isStartOfLog } from "./log-bytes.js";
import { hasWriter } from "./log-writer.js";
import { quickVerification } from "./log-end.js";
import { indexesFound } from "./indexes.js";
import { prunedNotes } from "./pruned-notes.js";
import { quarantineFound } from "./quarantines.js";

/** The logs. */
export const logsExamination: Examination = {
  id: "logs",
  looksAt: "Audit logs are complete and match their checkpoints",
  look,
  // The removals are looked up by the index: without one, logs are read whole.
  tell: ({ home, isQuick }) => (isQuick ? Promise.resolve([]) : prunedNotes(home)),
};

const FOREIGN: ReadonlySet<FindingCode> = new Set(["checkpoints_foreign", "checkpoints_broken"]);

/** Logs of which nobody can tell which key signed them, or under which name. */
async function misnamed(
  { home }: DoctorContext,
  found: readonly Found[],
): Promise<readonly string[]> {
  const keySeams = await readKeySeams(home).catch(() => undefined);
  if (keySeams === undefined || keySeams.some((note) => readKeySeam(note) === undefined))
    return listAuditFiles(home.dir);
  return found.flatMap(({ finding: { code, path = "" } }) =>
    code === "seams_missing" || code === "seam_broken" ? [path.replace(/\.seams$/, "")] : [],
  );
}

/** At 64 logs no gate finds a free one. */
const LOGS_MANY = 32;

async function look(context: DoctorContext): Promise<readonly Found[]> {
  const { home } = context;
  const sources = await sourcesOf(context);
  const open = (await readPlans(home)).filter(({ isDone }) => !isDone).map(({ log }) => log);
  const found: Found[] = [...(await quarantineFound(context, sources.ofHome))];
  // What follows from that: signing anew would hide it.
  const follows = new Set(await misnamed(context, found));
  for (const path of await logsToVerify(sources).catch(() => listAuditFiles(home.dir)))
    if (!open.includes(basename(path))) {
      const all = await logFound({ context, path, sources }).catch(unreadable(path));
      found.push(...all.filter(({ finding }) => !follows.has(path) || !FOREIGN.has(finding.code)));
    }
  found.push(...(await indexesFound(home)));
  const count = (await listAuditFiles(home.dir)).length;
  if (count >= LOGS_MANY)
    found.push(makeFound("logs_many", { path: home.dir, found: `There are ${count} logs` }));
  return found;
}

const unreadable =
  (path: string) =>
  (error: unknown): readonly Found[] => [
    makeFound("log_unreadable", { path, found: asError(error).message }),
  ];

/** Where checkpoints come from. A key or configuration that is broken is said elsewhere. */
async function sourcesOf({ home, io }: DoctorContext): Promise<ClaimSources> {
  const silent = { write: () => true };
  const print = createPrinter({ stdout: silent, stderr: silent, env: {}, json: false });
  const none: ClaimSources = {
    home: home.dir,
    ofHome: undefined,
    named: undefined,
    directories: [],
    more: undefined,
  };
  return claimSources(home.dir, true, { values: {}, io, print }).catch(() => none);
}

interface LogToExamine {
  readonly context: DoctorContext;
  readonly path: string;
  readonly sources: ClaimSources;
}

/** Of each source: a signature takes long to check, and each covers all events before it. */
const NEWEST_CHECKPOINTS = 4;

async function logFound({ context, path, sources }: LogToExamine): Promise<readonly Found[]> {
  const newest = context.isFull ? Number.POSITIVE_INFINITY : NEWEST_CHECKPOINTS;
  const claims = await claimsOf(path, sources, newest).catch(asError);
  const usable = claims instanceof Error ? undefined : claims;
  const result = await verify(context, path, usable);
  const isWritten = await hasWriter(path);
  const lines = await lineFound(context, path, { result, isWritten });
  if (lines.length > 0) return lines;
  const fault = await readFault(path);
  if (fault !== undefined) return [latchedFound(path, fault, context.isQuick)];
  return checkpointsFound({ context, path, sources, claims, result, isWritten });
}

async function verify(
  { home, isQuick, isFull, onProgress }: DoctorContext,
  path: string,
  claims: CheckpointClaims | undefined,
): Promise<AuditVerification> {
  if (!(await exists(path)) && claims !== undefined && claims.notes.length > 0) {
    const gone = await verifyAuditLog(path, { checkpoints: claims }).catch(() => undefined);
    const message = "there are signed checkpoints of this log, and the log is gone";
    return gone ?? { ok: false, events: 0, firstBad: { line: 1, code: "end_missing", message } };
  }
  if (isQuick) return quickVerification(path, claims);
  return verifyIndexedLog(path, {
    // What a gate doubted is not believed for having been good once.
    indexKey:
      isFull || (await readFault(path)) !== undefined ? undefined : await readIndexKey(home),
    ...(claims !== undefined && { checkpoints: claims }),
    onProgress: ({ bytes, bytesTotal }) =>
      onProgress(basename(path), Math.floor((100 * bytes) / Math.max(bytesTotal, 1))),
  });
}

const CODE_OF: Readonly<Partial<Record<BadLine["code"], FindingCode>>> = {
  start_missing: "log_start_missing",
  end_missing: "log_end_missing",
  history_replaced: "log_replaced",
  two_histories: "log_replaced",
};

async function lineFound(
  context: DoctorContext,
  path: string,
  { result, isWritten }: { readonly result: AuditVerification; readonly isWritten: boolean },
): Promise<readonly Found[]> {
  const { firstBad, events, head } = result;
  if (firstBad === undefined) return [];
  const file = firstBad.file === undefined ? path : join(dirname(path), firstBad.file);
  const text = `${basename(file)}:${firstBad.line}: ${firstBad.message} (${firstBad.code}); ${events} events before it are good`;
  const isLast = file === path;
  if (firstBad.code === "torn_line" && isLast && (events > 0 || (await isStartOfLog(path))))
    // A gate that writes just now has not come to the end of its line.
    return isWritten
      ? []
      : [makeFound("log_torn", { path, found: text, mend: recoverMend(context, path) })];
  const { code, message } = firstBad;
  const fault: LogFault = { code, message, events, ...(head !== undefined && { head }) };
  const mend = quarantineMend(context, path, fault);
  return [makeFound(await codeOf(file, firstBad, events), { path, found: text, mend })];
}

async function codeOf(file: string, { code, line }: BadLine, events: number): Promise<FindingCode> {
  const own = CODE_OF[code];
  if (own !== undefined) return own;
  if (events === 0 && line === 1 && !(await isStartOfLog(file)))
    return (await hasNul(file, line)) ? "log_nul" : "log_not_log";
  return (await hasNul(file, line)) ? "log_nul" : "log_broken";
}

function quarantineMend({ home }: DoctorContext, path: string, fault: LogFault): Mend {
  return {
    what: `set ${path} aside with all its files, and begin a new log that says so`,
    note: "own",
    async run() {
      const done = await quarantineLog(home, path, fault);
      await clearFault(path);
      return done;
    },
  };
}

/** Opening a log cuts the rest of a line off, and records it. */
function recoverMend({ home, io }: DoctorContext, path: string): Mend {
  return {
    what: `cut the rest of a line off ${path}, and record its size and SHA-256 in the log`,
    note: "own",
    async run() {
      const optionsOf = await auditLogOptions(home, {
        config: await readAuditConfig({ home, io }),
      });
      await using log = await openAuditLog(optionsOf(path));
      const { recovered } = log;
      return recovered === undefined
        ? `${path} was whole`
        : `${recovered.bytes} bytes were cut off ${path}, and the log says so`;
    },
  };
}

/**
 * Whole again, for example from a backup: the person decides that gates may go on. Who did not look
 * at its past cannot say so.
 */
function latchedFound(path: string, { text, at }: FoundFault, isQuick: boolean): Found {
  const found = `A gate found at ${at}: ${text}`;
  if (isQuick) return makeFound("log_latched", { path, found });
  return makeFound("log_latched", {
    path,
    found: `${found}. It verifies now`,
    mend: {
      what: `let gates write ${path} again, which verifies now`,
      note: "after",
      async run() {
        await clearFault(path);
        return `${path} verifies; the fault that a gate found at ${at} was removed: ${text}`;
      },
    },
  });
}

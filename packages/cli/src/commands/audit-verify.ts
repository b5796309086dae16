/**
 * `acp audit verify`: whether an audit log is whole, and whether it is the one that its signed
 * checkpoints promise.
 */
import { basename, dirname } from "node:path";
import { verifyAuditLog } from "@acp/audit";
import type { AuditVerification, CheckpointClaims, VerifyOptions } from "@acp/audit";
import { ConsentError, isConsentError } from "@acp/core";
import { homePaths } from "@acp/home";
import { listQuarantines } from "../doctor/mend/quarantines.js";
import type { Quarantine, Quarantines } from "../doctor/mend/quarantines.js";
import { claimSources, claimsOf, logsToVerify } from "../logs/claims.js";
import type { ClaimSources } from "../logs/claims.js";
import { auditFilesFor, namedLogs } from "../logs/log-files.js";
import type { Invocation, Run } from "../command.js";
import { homePath } from "../home/home-source.js";
import type { Printer } from "../printer.js";
import { exists } from "../home/exists.js";

const PERCENT = 100;

interface Checked extends AuditVerification {
  readonly file: string;
}

/** Runs the command. */
export const auditVerify: Run = async (invocation) => {
  const { values, print } = invocation;
  const logs = await logsOf(invocation);
  if (values.checkpoints !== undefined && logs.length > 1)
    throw new ConsentError(
      "options_invalid",
      "Cannot use --checkpoints: name the log that they belong to, acp audit verify FILE",
    );
  const checked: Checked[] = [];
  for (const { file, sources } of logs) {
    const claims = await claimsOf(file, sources);
    const progress = createProgress(file, invocation);
    checked.push({ file, ...(await verify(file, claims, progress.options)) });
    progress.clear();
  }
  const aside = await quarantinesOf(invocation, logs);
  const isKept = aside.all.every(({ files }) => files.every(({ state }) => state !== "changed"));
  const ok = checked.every((log) => log.ok) && isKept && aside.broken.length === 0;
  const { all: quarantined, broken } = aside;
  print.result(
    {
      ok,
      logs: checked,
      ...(quarantined.length > 0 && { quarantined }),
      ...(broken.length > 0 && { broken_seams: broken }),
    },
    () => [
      ...checked.flatMap((log) => describe(log, print)),
      ...quarantined.flatMap((each) => describeQuarantine(each, print)),
      ...broken.map(({ path, reason }) => `${print.tone("red", "broken")} ${path}: ${reason}`),
    ],
  );
  return ok ? "ok" : "audit";
};

/** The logs of the home that were set aside; none where files were named. */
async function quarantinesOf(
  invocation: Invocation,
  [first]: readonly LogToCheck[],
): Promise<Quarantines> {
  if (first === undefined || invocation.operands.length > 0 || invocation.rest.length > 0)
    return { all: [], broken: [] };
  const { home, ofHome, named } = first.sources;
  return listQuarantines(homePaths(home), named ?? ofHome);
}

function describeQuarantine(quarantine: Quarantine, print: Printer): readonly string[] {
  const { folder, log, code, message, events, head, files, signed } = quarantine;
  const good = `${events} ${events === 1 ? "event" : "events"} before it are good`;
  const end = head === undefined ? "" : `, head ${head.hash}`;
  const by = signed ? "" : "; nothing signs that";
  return [
    `${print.tone("yellow", "quarantined")} ${folder}/${log}: ${message} [${code}]; ${good}${end}${by}`,
    ...files.map(({ path, state, bytes, hash }) =>
      state === "kept"
        ? `  kept ${basename(path)}, ${bytes} bytes, ${hash}`
        : `  ${print.tone(state === "changed" ? "red" : "yellow", state)} ${path}: it had ${bytes} bytes and ${hash}`,
    ),
  ];
}

interface LogToCheck {
  readonly file: string;
  readonly sources: ClaimSources;
}

/** The named logs, or the home's; each with what is known of its checkpoints. */
async function logsOf(invocation: Invocation): Promise<readonly LogToCheck[]> {
  const { values, io } = invocation;
  const home = homePath({ values, io });
  const files = await namedLogs(invocation);
  if (files.length === 0) {
    const sources = await claimSources(home, true, invocation);
    const known = await logsToVerify(sources);
    const there = known.length === 0 ? await auditFilesFor([], home) : known;
    return there.map((file) => ({ file, sources }));
  }
  const isOfHome = (file: string): boolean => dirname(file) === home;
  const elsewhere = await claimSources(home, false, invocation);
  const ofHome = files.some(isOfHome) ? await claimSources(home, true, invocation) : elsewhere;
  return files.map((file) => ({ file, sources: isOfHome(file) ? ofHome : elsewhere }));
}

/** A log that is not there, and of which there are checkpoints, was removed. */
async function verify(
  file: string,
  claims: CheckpointClaims | undefined,
  options: VerifyOptions,
): Promise<AuditVerification> {
  try {
    return await verifyAuditLog(file, {
      ...options,
      ...(claims !== undefined && { checkpoints: claims }),
    });
  } catch (error) {
    if (
      claims === undefined ||
      claims.notes.length === 0 ||
      !isConsentError(error, "audit_failed") ||
      (await exists(file))
    )
      throw error;
    const message = "there are signed checkpoints of this log, but the log itself is missing";
    return { ok: false, events: 0, firstBad: { line: 1, code: "end_missing", message } };
  }
}

/** Percent on a terminal, in one line that is gone at the end. */
function createProgress(
  file: string,
  { io, print }: Invocation,
): { readonly options: VerifyOptions; clear(): void } {
  if (print.json || !io.stderr.isTTY) return { options: {}, clear: () => {} };
  let shown = -1;
  return {
    options: {
      onProgress({ events, bytes, bytesTotal }) {
        const percent = bytesTotal === 0 ? PERCENT : Math.floor((PERCENT * bytes) / bytesTotal);
        if (percent === shown) return;
        shown = percent;
        io.stderr.write(`\r\u001b[K${basename(file)}: ${percent} %, ${events} events`);
      },
    },
    clear: () => void io.stderr.write("\r\u001b[K"),
  };
}

function describe(log: Checked, print: Printer): readonly string[] {
  const { file, ok, events, head, firstBad, startSeq, checkpoints } = log;
  const count = `${events} ${events === 1 ? "event" : "events"}`;
  const lines: string[] = [];
  if (firstBad !== undefined) {
    const place = `${firstBad.file === undefined ? file : `${dirname(file)}/${firstBad.file}`}:${firstBad.line}`;
    lines.push(
      `${print.tone("red", "broken")} ${place}: ${firstBad.message} [${firstBad.code}]; ${count} before it are good`,
    );
  } else {
    const state = ok ? print.tone("green", "ok") : print.tone("red", "broken");
    lines.push(
      `${state} ${file}: ${count}${startSeq === undefined ? "" : ` from event ${startSeq} on; the log says that the ${startSeq} before were removed`}${head === undefined ? "" : `, head ${head.hash}`}`,
    );
  }
  return [...lines, ...checkpointLines(checkpoints, events, print)];
}

function checkpointLines(
  report: AuditVerification["checkpoints"],
  events: number,
  print: Printer,
): readonly string[] {
  if (report === undefined)
    return ["  no checkpoints were checked: a missing end would not be noticed"];
  const { verified, events: covered, firstBad } = report;
  const held = `  ${verified} ${verified === 1 ? "checkpoint holds" : "checkpoints hold"}, of ${covered} of ${events} events`;
  return firstBad === undefined
    ? [held]
    : [held, `  ${print.tone("red", "bad")} checkpoint ${firstBad.number}: ${firstBad.reason}`];
}

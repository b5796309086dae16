/**
 * `acp audit verify`: whether an audit log is whole, and whether it is the one that its signed checkpoints promise.
 */
import { basename, dirname } from "node:path";
import { checkpointsPath, noteSigner, readCheckpoints, verifyAuditLog } from "@acp/audit";
import type { AuditVerification, CheckpointClaims, VerifyOptions } from "@acp/audit";
import { ConsentError } from "@acp/core";
import { homePaths } from "@acp/home";
import { auditFilesFor } from "../audit-files.js";
import { originOf, readCheckpointKey } from "../checkpoint-key.js";
import type { Invocation, Run } from "../command.js";
import { homePath } from "../home-source.js";
import { readInput } from "../input.js";
import type { Printer } from "../printer.js";

const KEY_BYTES_MAX = 4_096;
const NOTE_KEY = /^[^\s+]+\+[0-9a-f]{8}\+/;
const PERCENT = 100;

interface Checked extends AuditVerification {
  readonly file: string;
}

/** Runs the command. */
export const auditVerify: Run = async (invocation) => {
  const { operands, values, io, print } = invocation;
  const home = homePath({ values, io });
  const files = await auditFilesFor(operands[0], home);
  if (values.checkpoints !== undefined && files.length > 1)
    throw new ConsentError("options_invalid", "Cannot use --checkpoints: name the one log that they are of, acp audit verify FILE");
  const checked: Checked[] = [];
  for (const file of files) {
    const claims = await claimsFor(file, home, invocation);
    const progress = createProgress(file, invocation);
    checked.push({ file, ...(await verifyAuditLog(file, { ...progress.options, ...(claims !== undefined && { checkpoints: claims }) })) });
    progress.clear();
  }
  const ok = checked.every((log) => log.ok);
  print.result({ ok, logs: checked }, () => checked.flatMap((log) => describe(log, print)));
  return ok ? "ok" : "audit";
};

/** The checkpoints beside a log and those of --checkpoints, with the key that is trusted; nothing where there is no key. */
async function claimsFor(file: string, home: string, { values, io }: Invocation): Promise<CheckpointClaims | undefined> {
  const isOfHome = dirname(file) === home;
  const signerKey = values.key === undefined && isOfHome ? await readCheckpointKey(homePaths(home)) : undefined;
  const key = values.key === undefined ? undefined : await readNoteKey(values.key, io);
  const verifierKey = key ?? (signerKey === undefined ? undefined : noteSigner(signerKey).verifierKey);
  if (verifierKey === undefined) {
    if (values.checkpoints === undefined) return undefined;
    throw new ConsentError("options_invalid", "Cannot use --checkpoints: give the key that signed them with --key; acp keys list shows it");
  }
  const notes = await readCheckpoints(checkpointsPath(file));
  const more = values.checkpoints === undefined ? [] : await readCheckpoints(values.checkpoints);
  const [name = ""] = verifierKey.split("+");
  return { notes: [...notes, ...more], verifierKeys: [verifierKey], ...(isOfHome && { origin: originOf(name, basename(file)) }) };
}

async function readNoteKey(key: string, io: Invocation["io"]): Promise<string> {
  return NOTE_KEY.test(key) ? key : (await readInput(key, io, { what: "checkpoint key", bytesMax: KEY_BYTES_MAX })).trim();
}

/** Percent on a terminal, in one line that is gone at the end. */
function createProgress(file: string, { io, print }: Invocation): { readonly options: VerifyOptions; clear(): void } {
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
    lines.push(`${print.tone("red", "broken")} ${place}: ${firstBad.message} [${firstBad.code}]; ${count} before it are good`);
  } else {
    const state = ok ? print.tone("green", "ok") : print.tone("red", "broken");
    lines.push(
      `${state} ${file}: ${count}${startSeq === undefined ? "" : ` from event ${startSeq} on`}${head === undefined ? "" : `, head ${head.hash}`}`,
    );
  }
  return [...lines, ...checkpointLines(checkpoints, events, print)];
}

function checkpointLines(report: AuditVerification["checkpoints"], events: number, print: Printer): readonly string[] {
  if (report === undefined) return ["  no checkpoints were looked at: that the end is there cannot be said"];
  const { verified, events: covered, firstBad } = report;
  const held = `  ${verified} ${verified === 1 ? "checkpoint holds" : "checkpoints hold"}, of ${covered} of ${events} events`;
  return firstBad === undefined ? [held] : [held, `  ${print.tone("red", "bad")} checkpoint ${firstBad.number}: ${firstBad.reason}`];
}

/**
 * `acp audit verify`: whether the hash chain of a log is whole.
 */
import { verifyAuditLog } from "@acp/audit";
import type { AuditVerification } from "@acp/audit";
import { auditFilesFor } from "../audit-files.js";
import type { Run } from "../command.js";
import { homePath } from "../home-source.js";
import type { Printer } from "../printer.js";

/** Runs the command. */
export const auditVerify: Run = async ({ operands, values, io, print }) => {
  const files = await auditFilesFor(operands[0], homePath({ values, io }));
  const checked: (AuditVerification & { readonly file: string })[] = [];
  for (const file of files) checked.push({ file, ...(await verifyAuditLog(file)) });
  const ok = checked.every((log) => log.ok);
  print.result({ ok, logs: checked }, () => checked.map((log) => describe(log, print)));
  return ok ? "ok" : "audit";
};

function describe({ file, ok, events, head, firstBad }: AuditVerification & { readonly file: string }, print: Printer): string {
  const count = `${events} ${events === 1 ? "event" : "events"}`;
  if (ok) return `${print.tone("green", "ok")} ${file}: ${count}${head === undefined ? "" : `, head ${head.hash}`}`;
  return `${print.tone("red", "broken")} ${file}:${firstBad?.line ?? 0}: ${firstBad?.message ?? ""} [${firstBad?.code ?? ""}]; ${count} before it are good`;
}

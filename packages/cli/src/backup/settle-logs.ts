/**
 * Settle logs: a restored log is one of before, and a witness may have checkpoints of what came
 * later. Such a log never opens again, so it is set aside whole and a new one begins after it, as
 * for a log that broke (spec/audit.md §6.1).
 */
import { basename, join } from "node:path";
import { openAuditLog, verifyAuditLog } from "@acp/audit";
import { asError, isConsentError } from "@acp/core";
import { quarantineLog } from "../doctor/mend/quarantine-log.js";
import type { LogFault } from "../doctor/mend/quarantine-plan.js";
import { exists } from "../home/exists.js";
import { auditFileNames, listAuditFiles } from "../logs/log-files.js";
import { readAuditConfig } from "../logs/log-settings.js";
import type { HomeOfUser } from "../logs/log-settings.js";
import { auditLogOptions } from "../logs/open-audit.js";
import type { HomePaths } from "@acp/home";

/** A home that was restored that often from old backups begins logs that its witness knows, too. */
const TRIES_MAX = 100;

/**
 * Sets aside what a witness knows more of. Nobody else may use the home.
 *
 * @returns Names of the logs that were set aside.
 * @throws ConsentError `audit_failed` where a log does not open for another reason.
 */
export async function settleLogs(
  context: HomeOfUser & { readonly home: HomePaths },
): Promise<readonly string[]> {
  const { home } = context;
  const config = await readAuditConfig(context);
  const [first = "audit.jsonl"] = auditFileNames();
  const paths = new Set([join(home.dir, first), ...(await listAuditFiles(home.dir))]);
  const aside: string[] = [];
  for (const path of paths)
    for (let tries = 0; ; tries++) {
      // Anew each time: a log that follows another has a name of its own.
      const optionsOf = await auditLogOptions(home, { config });
      const error = await openAuditLog(optionsOf(path)).then(
        (log) => log[Symbol.asyncDispose](),
        asError,
      );
      if (error === undefined) break;
      const fault = await faultOf(path, error);
      if (fault === undefined || tries === TRIES_MAX) throw error;
      await quarantineLog(home, path, fault);
      aside.push(basename(path));
    }
  return [...new Set(aside)];
}

/** What is wrong with a log that is whole and does not open; `undefined` where it is not whole. */
async function faultOf(path: string, error: unknown): Promise<LogFault | undefined> {
  if (!isConsentError(error, "audit_failed")) return undefined;
  const message = "a witness has checkpoints of what came after the backup";
  if (!(await exists(path))) return { code: "end_missing", message, events: 0 };
  const { ok, events, head } = await verifyAuditLog(path);
  return ok
    ? { code: "end_missing", message, events, ...(head !== undefined && { head }) }
    : undefined;
}

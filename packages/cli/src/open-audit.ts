/**
 * Opening an audit log for this process: the first log of the home that no live gate writes. docs/adr/0040-one-audit-chain-a-gate.md says why.
 */
import { join } from "node:path";
import { openAuditLog } from "@acp/audit";
import type { AuditLog } from "@acp/audit";
import { ConsentError, isConsentError } from "@acp/core";
import { auditFileNames } from "./audit-files.js";

/**
 * Opens the first free log of the home.
 *
 * @throws ConsentError `audit_failed` where a log cannot be opened for another reason than a live writer, `audit_busy` where every log has one.
 */
export async function openHomeAudit(home: string): Promise<AuditLog> {
  for (const name of auditFileNames()) {
    try {
      return await openAuditLog({ path: join(home, name) });
    } catch (error) {
      // Only a live writer is stepped around; a log that is broken must be seen.
      if (!isConsentError(error, "audit_busy")) throw error;
    }
  }
  throw new ConsentError(
    "audit_busy",
    `Cannot open an audit log in "${home}": ${auditFileNames().length} gates write there already; end one, or use another --home`,
  );
}

/**
 * Opening an audit log for this process: the first log of the home that no live gate writes. docs/adr/0040-one-audit-chain-a-gate.md says why.
 */
import { join } from "node:path";
import { openAuditLog } from "@acp/audit";
import type { AuditLog, AuditLogOptions } from "@acp/audit";
import { ConsentError, isConsentError } from "@acp/core";
import type { HomePaths } from "@acp/home";
import { auditFileNames } from "./audit-files.js";
import { checkpointOptions, readCheckpointKey } from "./checkpoint-key.js";

/** A file that an editor still opens; some 100,000 events. */
const ROTATION = { maxBytes: 64 * 1024 * 1024 } as const;

/**
 * Opens the first free log of the home, signed where the home has a checkpoint key.
 *
 * @throws ConsentError `audit_failed` where a log cannot be opened for another reason than a live writer, `audit_busy` where every log has one.
 */
export async function openHomeAudit(home: HomePaths, options: Pick<AuditLogOptions, "recover"> = {}): Promise<AuditLog> {
  const signerKey = await readCheckpointKey(home);
  for (const name of auditFileNames()) {
    const path = join(home.dir, name);
    try {
      return await openAuditLog({ path, rotation: ROTATION, ...checkpointOptions(signerKey, path), ...options });
    } catch (error) {
      // Only a live writer is stepped around; a log that is broken must be seen.
      if (!isConsentError(error, "audit_busy")) throw error;
    }
  }
  throw new ConsentError(
    "audit_busy",
    `Cannot open an audit log in "${home.dir}": ${auditFileNames().length} gates write there already; end one, or use another --home`,
  );
}

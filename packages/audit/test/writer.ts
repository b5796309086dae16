/**
 * A process that writes a log and says on stdout what was acknowledged: `seq hash`, one line an
 * append. Arguments: path, how many appends, how many at once, bytes of filler in each event, bytes
 * of a file (0: any), secret key of checkpoints, `v0.3` for a plain log, key of the index in hex,
 * and how many full files it leaves after each append. Ends with `busy` or `failed MESSAGE` on
 * stdout where it cannot go on.
 */
import { writeSync } from "node:fs";
import { isConsentError } from "@acp/core";
import { type AuditLog, openAuditLog } from "../src/audit-log.js";
import { openPlainLog } from "../src/plain-log.js";
import { pruneAuditLog } from "../src/prune.js";

const [
  path = "",
  count = "1",
  concurrency = "1",
  filler = "0",
  maxBytes = "0",
  signerKey = "",
  format = "",
  indexKey = "",
  keepFiles = "",
] = process.argv.slice(2);
const metadata = { filler: "x".repeat(Number(filler)) };
let number = 0;

/**
 * Writes what the pipe takes; 0 where the reader is behind, since a pipe that Node made does not
 * block.
 */
function writeNow(bytes: Uint8Array): number {
  try {
    return writeSync(1, bytes);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EAGAIN") return 0;
    throw error;
  }
}

const say = (text: string): void => {
  const bytes = Buffer.from(`${text}\n`);
  for (let sent = 0; sent < bytes.length; ) sent += writeNow(bytes.subarray(sent));
};

try {
  const open = (): Promise<AuditLog> =>
    openAuditLog({
      path,
      ...(maxBytes === "0" ? {} : { rotation: { maxBytes: Number(maxBytes) } }),
      ...(indexKey === "" ? {} : { indexKey: Buffer.from(indexKey, "hex") }),
      ...(signerKey === "" ? {} : { checkpoints: { signerKey, everyEvents: 50 } }),
    });
  const chained = format === "v0.3" ? undefined : await open();
  await using log = chained ?? (await openPlainLog({ path }));
  const write = async (): Promise<void> => {
    while (number < Number(count)) {
      number += 1;
      const events = Array.from({ length: 1 + (number % 3) }, (_, part) => ({
        id: `ae_${process.pid}_${number}_${part}`,
        atMs: Date.now(),
        eventType: "policy_evaluated" as const,
        requestId: "",
        agent: "agent-1",
        tool: "write_file",
        category: "write",
        riskLevel: "medium",
        decision: "allow",
        responseTimeMs: 0,
        policyRule: "rule_1",
        metadata,
      }));
      const { seq, hash } = await log.append(events);
      say(`${seq} ${hash}`);
      if (keepFiles !== "" && chained !== undefined)
        await pruneAuditLog(chained, { keepFiles: Number(keepFiles) });
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: Number(concurrency) }, write));
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
} catch (error) {
  say(
    isConsentError(error, "audit_busy")
      ? "busy"
      : `failed ${error instanceof Error ? error.message : String(error)}`,
  );
}

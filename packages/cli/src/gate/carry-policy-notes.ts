/**
 * Carrying policy notes: before the oldest files of a log go, the policies in force that only they
 * name are named again, so that their texts are kept and decisions can be explained.
 */
import { readAuditLog } from "@acp/audit";
import type { AuditLog } from "@acp/audit";
import { logEvent, randomIds, systemClock } from "@acp/core";
import { readPolicyNote, trackPolicyNotes } from "../logs/policy-notes.js";

/**
 * Notes again the policies that were in force at the first event that stays and are still.
 *
 * @param firstKept - Number of the first event that stays.
 * @throws ConsentError `audit_failed`.
 */
export async function carryPolicyNotes(
  audit: Pick<AuditLog, "path" | "append">,
  firstKept: number,
): Promise<void> {
  const notes = trackPolicyNotes();
  const later = new Set<string>();
  for await (const event of readAuditLog(audit.path, { filter: { eventType: "gate_notice" } })) {
    const note = readPolicyNote(event);
    if (event.seq < firstKept) notes.add(event);
    else if (note?.isAgain === true) later.add(`${note.file} ${note.policy}`);
  }
  const due = notes.current().filter(({ file, policy }) => !later.has(`${file} ${policy}`));
  if (due.length === 0) return;
  await audit.append(
    due.map(({ file, policy, sinceMs }) =>
      logEvent(
        "gate_notice",
        { id: randomIds.next("ae"), atMs: systemClock.now() },
        {
          isolation: "none",
          notice: "policy_loaded",
          text: `${file}: noted again, because the first note is about to be removed`,
          policy,
          file,
          in_force_ms: sinceMs,
        },
      ),
    ),
  );
}

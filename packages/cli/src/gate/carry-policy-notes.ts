/**
 * Carrying policy notes: before the oldest files of a log go, the policies in force that only they
 * name are named again, so that their texts are kept and decisions can be explained.
 */
import { readAuditLog } from "@acp/audit";
import type { AuditLog } from "@acp/audit";
import { logEvent, randomIds, systemClock } from "@acp/core";
import type { HomePaths } from "@acp/home";
import { readIndexKey } from "../logs/index-key.js";
import { readPolicyNote, trackPolicyNotes } from "../logs/policy-notes.js";

/**
 * Notes again the policies that were in force at the first event that stays and are still.
 *
 * @param firstKept - Number of the first event that stays.
 * @throws ConsentError `audit_failed`.
 */
export async function carryPolicyNotes(
  home: Pick<HomePaths, "keysDir">,
  audit: Pick<AuditLog, "path" | "append">,
  firstKept: number,
): Promise<void> {
  const reading = { filter: { eventType: "gate_notice" }, indexKey: await readIndexKey(home) };
  const notes = trackPolicyNotes();
  const later = new Set<string>();
  for await (const event of readAuditLog(audit.path, reading)) {
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

/** Pruned notes: what retention removed of the logs, and when, as the logs themselves say. */
import { listArchives, readAuditLogBackward } from "@acp/audit";
import { isoTime } from "@acp/core";
import type { HomePaths } from "@acp/home";
import { basename } from "node:path";
import { readIndexKey } from "../../logs/index-key.js";
import { listAuditFiles } from "../../logs/log-files.js";

/** One sentence for each log of which something was removed. */
export async function prunedNotes(
  home: Pick<HomePaths, "dir" | "keysDir">,
): Promise<readonly string[]> {
  const indexKey = await readIndexKey(home);
  const notes: string[] = [];
  for (const path of await listAuditFiles(home.dir)) {
    // The newest full file always stays: a log without one, or from its first event on, is whole.
    if (((await listArchives(path))[0]?.firstSeq ?? 0) === 0) continue;
    const reading = { filter: { eventType: "log_pruned" }, indexKey };
    for await (const { atMs, metadata } of readAuditLogBackward(path, reading)) {
      const { before_seq: before, file } = metadata;
      if (typeof before !== "number" || typeof file !== "string") continue;
      notes.push(
        `${basename(path)}: retention removed the first ${before} events, the last of them on ${isoTime(atMs)} with ${file}`,
      );
      break;
    }
  }
  return notes;
}

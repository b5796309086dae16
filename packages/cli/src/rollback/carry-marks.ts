/**
 * Carrying marks: the newest states that only a log's oldest files note are noted again before
 * these go. Without that an older file put back would not be seen.
 */
import type { AuditLog } from "@acp/audit";
import { randomIds } from "@acp/core";
import { stateSavedEvent } from "@acp/core/unstable";
import type { HomePaths } from "@acp/home";
import { readNotedStates } from "./noted-states.js";

/**
 * Notes them again, with the time of their notes.
 *
 * @param firstKept - Number of the first event of the log that stays.
 */
export async function carryMarks(
  home: Pick<HomePaths, "dir" | "keysDir">,
  audit: Pick<AuditLog, "path" | "append">,
  firstKept: number,
): Promise<void> {
  const newest = [...(await readNotedStates(home)).values()];
  const due = newest.filter(({ log, event }) => log === audit.path && event.seq < firstKept);
  if (due.length === 0) return;
  await audit.append(
    due.map(({ event: { atMs, seq }, ...mark }) =>
      stateSavedEvent(mark, { id: randomIds.next("ae"), atMs }, seq),
    ),
  );
}

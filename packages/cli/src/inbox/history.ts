/**
 * History: what the audit logs of a home say of questions that ended, with the answers that were
 * signed. Reads from the end of the logs, as far as it needs.
 */
import { readAuditLog } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import type { HistoryEntry } from "@acp/channel-web";
import { isJsonObject } from "@acp/core";
import type { JsonObject } from "@acp/core";
import { homePaths } from "@acp/home";
import { readIndexKey } from "../logs/index-key.js";
import { lastEvents } from "../logs/last-events.js";
import { listAuditFiles } from "../logs/log-files.js";
import { createOutcomeBook } from "../outcomes/outcome-book.js";

const ENDS: ReadonlyMap<string, HistoryEntry["status"]> = new Map([
  ["consent_approved", "approved"],
  ["consent_denied", "denied"],
  ["consent_expired", "expired"],
  ["consent_cancelled", "cancelled"],
  ["consent_failed", "failed"],
  ["consent_superseded", "superseded"],
]);

interface Logs {
  readonly files: readonly string[];
  readonly indexKey: Uint8Array | undefined;
}

/**
 * Reads the last ends, newest first. Questions of gates without keys are not in the log whole, and
 * left out.
 *
 * @throws ConsentError `audit_failed` at a line that is no event, where the reading comes to it.
 */
export async function readHistory(home: string, limit: number): Promise<readonly HistoryEntry[]> {
  const logs = {
    files: await listAuditFiles(home),
    indexKey: await readIndexKey(homePaths(home)),
  };
  for (let wanted = limit; ; wanted *= 4) {
    const ends = await readEnds(logs, wanted);
    const found = await withQuestions(logs, ends);
    if (found.length >= limit || ends.length < wanted) return found.slice(0, limit);
  }
}

/** The newest ends, the last first. */
async function readEnds(logs: Logs, limit: number): Promise<readonly AuditEvent[]> {
  const ends: AuditEvent[] = [];
  for await (const event of lastEvents({ ...logs, limit, filter: { eventType: [...ENDS.keys()] } }))
    ends.unshift(event);
  return ends;
}

/** The ends whose question is in the log, with what became of a yes. */
async function withQuestions(
  { files, indexKey }: Logs,
  ends: readonly AuditEvent[],
): Promise<readonly HistoryEntry[]> {
  const asked = new Map<string, JsonObject | undefined>();
  const book = createOutcomeBook();
  const read = async (ids: readonly string[], sinceMs: number): Promise<void> => {
    for (const file of ids.length === 0 ? [] : files)
      for await (const event of readAuditLog(file, {
        filter: { requestId: ids, sinceMs },
        indexKey,
      })) {
        const { request } = event.metadata;
        book.take(event);
        if (event.eventType === "consent_requested")
          asked.set(event.requestId, isJsonObject(request) ? request : undefined);
      }
  };
  const began = ends.map(({ atMs, responseTimeMs }) => atMs - responseTimeMs);
  const ids = ends.map(({ requestId }) => requestId);
  await read(ids, Math.min(...began) - CLOCK_MS);
  // Only where a clock was set, or an earlier process had asked.
  await read(
    ids.filter((id) => !asked.has(id)),
    -Infinity,
  );
  return ends.flatMap(({ requestId, eventType, atMs, metadata }) => {
    const status = ENDS.get(eventType);
    const request = asked.get(requestId);
    if (status === undefined || request === undefined) return [];
    const run = book.find(requestId)?.run;
    const entry = {
      request,
      status: statusOf(status, metadata),
      atMs,
      approvers: textsOf(metadata["approvers"]),
      responses: objectsOf(metadata["responses"]),
    };
    return [run === undefined ? entry : { ...entry, run }];
  });
}

/** A question is in the log before the time from which its answer is counted, or just after it. */
const CLOCK_MS = 60_000;

function statusOf(status: HistoryEntry["status"], metadata: JsonObject): HistoryEntry["status"] {
  return status === "approved" && metadata["approved_parameters"] !== undefined
    ? "approved_with_modifications"
    : status;
}

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
const objectsOf = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter((each) => isJsonObject(each)) : [];

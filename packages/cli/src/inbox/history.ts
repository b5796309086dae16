/**
 * History: what the audit logs of a home say of questions that ended, with the answers that were
 * signed.
 */
import { readAuditLog } from "@acp/audit";
import type { HistoryEntry } from "@acp/channel-web";
import { isJsonObject } from "@acp/core";
import type { JsonObject } from "@acp/core";
import { listAuditFiles } from "../logs/log-files.js";
import { createOutcomeBook, type OutcomeBook } from "../outcomes/outcome-book.js";

const ENDS: ReadonlyMap<string, HistoryEntry["status"]> = new Map([
  ["consent_approved", "approved"],
  ["consent_denied", "denied"],
  ["consent_expired", "expired"],
  ["consent_cancelled", "cancelled"],
  ["consent_failed", "failed"],
  ["consent_superseded", "superseded"],
]);

/**
 * Reads the last ends, newest first. Questions of gates without keys are not in the log whole, and
 * left out.
 */
export async function readHistory(home: string, limit: number): Promise<readonly HistoryEntry[]> {
  const ended = (
    await Promise.all((await listAuditFiles(home)).map((file) => readEnds(file, limit)))
  ).flat();
  return ended.toSorted((one, other) => other.atMs - one.atMs).slice(0, limit);
}

async function readEnds(file: string, limit: number): Promise<readonly HistoryEntry[]> {
  const asked = new Map<string, JsonObject>();
  const ends: HistoryEntry[] = [];
  const book = createOutcomeBook();
  for await (const event of readAuditLog(file)) {
    const { eventType, requestId, atMs, metadata } = event;
    book.take(event);
    if (eventType === "consent_requested" && isJsonObject(metadata["request"]))
      asked.set(requestId, metadata["request"]);
    const status = ENDS.get(eventType);
    const request = asked.get(requestId);
    if (status === undefined || request === undefined) continue;
    asked.delete(requestId);
    ends.push({
      request,
      status: statusOf(status, metadata),
      atMs,
      approvers: textsOf(metadata["approvers"]),
      responses: objectsOf(metadata["responses"]),
    });
    // Only the newest are wanted: what lies before them needs no memory.
    if (ends.length > limit * 2) ends.splice(0, ends.length - limit);
  }
  return ends.map((end) => withRun(end, book));
}

/** What became of a yes comes after its end. */
function withRun(entry: HistoryEntry, book: OutcomeBook): HistoryEntry {
  const run = book.find(textOf(entry.request["id"]))?.run;
  return run === undefined ? entry : { ...entry, run };
}

function statusOf(status: HistoryEntry["status"], metadata: JsonObject): HistoryEntry["status"] {
  return status === "approved" && metadata["approved_parameters"] !== undefined
    ? "approved_with_modifications"
    : status;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
const objectsOf = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter((each) => isJsonObject(each)) : [];

/** Pending line: one record as a line of the journal, and back. Format: spec/home.md §6. */
import { type PendingRecord, isJsonObject } from "@acp/core";

/** A record as a line, with its end. */
export function printRecord(record: PendingRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/**
 * The record of a line; `undefined` where it is none.
 *
 * The file is its owner's alone: what is looked at here is what a store and a gate stand on,
 * against a disk that fails and a hand that slips.
 */
export function readRecord(line: string): PendingRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isRecord(value) ? value : undefined;
}

const STATUSES: readonly unknown[] = ["created", "delivered", "ended"];
const TEXTS = ["id", "agentId", "originalDigest"] as const;
const FLAGS = ["deferred", "adopted"] as const;

function isRecord(value: unknown): value is PendingRecord {
  if (!isJsonObject(value)) return false;
  const { request, action, approvals, version, status, end } = value;
  return (
    TEXTS.every((key) => typeof value[key] === "string") &&
    FLAGS.every((key) => typeof value[key] === "boolean") &&
    Number.isSafeInteger(version) &&
    STATUSES.includes(status) &&
    isJsonObject(action) &&
    Array.isArray(approvals) &&
    isJsonObject(request) &&
    request["id"] === value["id"] &&
    Number.isSafeInteger(request["expiresAtMs"]) &&
    (status === "ended") === isJsonObject(end)
  );
}

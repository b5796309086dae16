/**
 * Codec: an audit event in memory (camelCase) and on its line (S0 §7.4, snake_case). Pure. A line
 * is the event's canonical JSON (RFC 8785); `event_hash` is SHA-256 over those bytes without that
 * field. Format: spec/audit.md.
 */
import { hash as digest } from "node:crypto";
import {
  type AuditEventInput,
  type AuditReceipt,
  type JsonObject,
  canonicalJson,
  isJsonObject,
} from "@acp/core";
import type { AuditEvent, AuditFault, AuditFaultCode } from "./event.js";
import {
  EVENT_VERSION,
  type EventStamp,
  hashMember,
  hashText,
  lineParts,
  nextSeq,
  readTime,
} from "./event-line.js";

const HASH = /^sha256:[0-9a-f]{64}$/;
const FIELDS: readonly string[] = [
  "agent",
  "category",
  "decision",
  "event_hash",
  "event_type",
  "id",
  "metadata",
  "policy_rule",
  "previous_event_hash",
  "request_id",
  "response_time_ms",
  "risk_level",
  "timestamp",
  "tool",
  "type",
  "version",
];

/** `sha256:<hex>` of text (as UTF-8) or bytes. */
export function sha256(input: string | Uint8Array): string {
  return hashText(digest("sha256", input, "hex"));
}

/**
 * The line of an event that follows `head`, without its newline, and the new head.
 *
 * @throws ConsentError of any `json_` code, or TypeError, where the event has no line.
 */
export function encodeEvent(
  event: AuditEventInput,
  head: AuditReceipt | undefined,
  stamp: EventStamp = {},
): { readonly line: string; readonly head: AuditReceipt } {
  const { before, after } = lineParts(event, head, stamp);
  const hex = digest("sha256", before + after, "hex");
  return {
    line: before + hashMember(hex) + after,
    head: { seq: nextSeq(head), hash: hashText(hex) },
  };
}

// The first such field of a canonical event is its own: before it stand only the text values of
// agent, category and decision, and inside a text a quote is always escaped. So the hash can be
// taken out without a second serialisation.
function unseal(line: string, hash: string): string {
  const field = `,"event_hash":"${hash}"`;
  const at = line.indexOf(field);
  return line.slice(0, at) + line.slice(at + field.length);
}

/**
 * The event of a line, or what is wrong with the line itself; its link to the line before is {@link
 * checkLink}'s.
 */
export function decodeEvent(
  line: string,
):
  | { readonly ok: true; readonly event: AuditEvent }
  | { readonly ok: false; readonly fault: AuditFault } {
  let wire: unknown;
  try {
    wire = JSON.parse(line);
  } catch {
    return bad("not_json", "it is not JSON");
  }
  if (!isCanonical(line, wire)) return bad("not_canonical", "it is not in canonical form");
  const event = readEvent(wire);
  if (typeof event === "string") return bad("schema_invalid", event);
  if (sha256(unseal(line, event.hash)) !== event.hash)
    return bad("hash_mismatch", "it was changed: its hash does not match");
  return { ok: true, event };
}

/** The event of a line that was proven good before: only reads it. */
export function parseEvent(line: string): AuditEvent {
  const event = readEvent(JSON.parse(line));
  if (typeof event === "string") throw new TypeError(event);
  return event;
}

function bad(
  code: AuditFaultCode,
  message: string,
): { readonly ok: false; readonly fault: AuditFault } {
  return { ok: false, fault: { code, message } };
}

function isCanonical(line: string, wire: unknown): boolean {
  try {
    return canonicalJson(wire) === line;
  } catch {
    return false;
  }
}

/** What is wrong with the event's place after `head`; `undefined` where it follows. */
export function checkLink(
  event: AuditEvent,
  head: AuditReceipt | undefined,
): AuditFault | undefined {
  const seq = nextSeq(head);
  if (event.seq !== seq)
    return { code: "seq_broken", message: `its sequence number is ${event.seq}, expected ${seq}` };
  if (event.previousHash !== (head === undefined ? null : head.hash)) {
    return {
      code: "chain_broken",
      message: "it does not follow the previous event, which was changed or replaced",
    };
  }
  return undefined;
}

/** The event that the wire object is, or why it is none. */
function readEvent(wire: unknown): AuditEvent | string {
  if (!isJsonObject(wire)) return "it is not an object";
  const unknown = Object.keys(wire).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined) return `it has an unknown field ${JSON.stringify(unknown)}`;
  if (wire["type"] !== "audit_event") return '"type" is not "audit_event"';
  if (wire["version"] !== EVENT_VERSION) return `"version" is not "${EVENT_VERSION}"`;
  const atMs = readTime(wire["timestamp"]);
  if (atMs === undefined) return '"timestamp" is not a UTC time with milliseconds';
  const hash = wire["event_hash"];
  if (!isHash(hash)) return '"event_hash" is not a SHA-256 hash';
  const previousHash = wire["previous_event_hash"];
  if (previousHash !== null && !isHash(previousHash))
    return '"previous_event_hash" is neither null nor a SHA-256 hash';
  const responseTimeMs = wire["response_time_ms"];
  if (typeof responseTimeMs !== "number" || responseTimeMs < 0)
    return '"response_time_ms" is not a number from 0';
  const { metadata: given } = wire;
  if (!isJsonObject(given)) return '"metadata" is not an object';
  const { seq, mono_ms: monoMs, ...metadata } = given;
  if (typeof seq !== "number" || !Number.isSafeInteger(seq) || seq < 0)
    return '"metadata.seq" is not a sequence number';
  if (monoMs !== undefined && (typeof monoMs !== "number" || monoMs < 0))
    return '"metadata.mono_ms" is not a number from 0';
  const texts = readTexts(wire);
  if (typeof texts === "string") return texts;
  return {
    ...texts,
    atMs,
    responseTimeMs,
    metadata,
    seq,
    ...(monoMs === undefined ? {} : { monoMs }),
    previousHash,
    hash,
  };
}

type Texts = Pick<
  AuditEvent,
  | "id"
  | "eventType"
  | "requestId"
  | "agent"
  | "tool"
  | "category"
  | "riskLevel"
  | "decision"
  | "policyRule"
>;

function readTexts(wire: JsonObject): Texts | string {
  const wrong: string[] = [];
  const text = (key: string): string => {
    const value = wire[key];
    if (typeof value === "string") return value;
    wrong.push(key);
    return "";
  };
  const texts: Texts = {
    id: text("id"),
    eventType: text("event_type"),
    requestId: text("request_id"),
    agent: text("agent"),
    tool: text("tool"),
    category: text("category"),
    riskLevel: text("risk_level"),
    decision: text("decision"),
    policyRule: text("policy_rule"),
  };
  if (wrong[0] !== undefined) return `"${wrong[0]}" is not a string`;
  if (texts.id === "" || texts.eventType === "")
    return `"${texts.id === "" ? "id" : "event_type"}" is empty`;
  return texts;
}

function isHash(value: unknown): value is string {
  return typeof value === "string" && HASH.test(value);
}

/**
 * Codec: an audit event in memory (camelCase) and on its line (S0 §7.4, snake_case). Pure.
 * A line is the event's canonical JSON (RFC 8785); `event_hash` is SHA-256 over those bytes without that field. Format: spec/audit.md.
 */
import { hash as digest } from "node:crypto";
import { type AuditEventInput, type AuditReceipt, type JsonObject, type JsonValue, canonicalJson, isoTime, parseIsoTime } from "@acp/core";
import type { AuditEvent, AuditFault, AuditFaultCode } from "./event.js";

const VERSION = "0.2.0";
/** What the log writes into an event's metadata. */
const LOG_FIELDS = ["seq", "mono_ms"] as const;
const PREFIX = "sha256:";
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
  return PREFIX + digest("sha256", input, "hex");
}

/** What the log itself adds to an event. */
export interface EventStamp {
  /** Monotonic milliseconds since its writer opened the log. */
  readonly monoMs?: number;
}

/** What the hash of an event covers: the line as it is before and after the place of the hash. */
export interface LineParts {
  readonly before: string;
  readonly after: string;
}

/** A hash as events hold it. */
export function hashText(hex: string): string {
  return PREFIX + hex;
}

/** The member that holds the hash, from its comma on. */
export function hashMember(hex: string): string {
  return `,"event_hash":"${PREFIX}${hex}"`;
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
  return { line: before + hashMember(hex) + after, head: { seq: nextSeq(head), hash: PREFIX + hex } };
}

/** Number of the event that follows `head`. */
export function nextSeq(head: AuditReceipt | undefined): number {
  return head === undefined ? 0 : head.seq + 1;
}

/**
 * The line of an event that follows `head`, but for its hash.
 *
 * @throws ConsentError of any `json_` code, or TypeError, where the event has no line.
 */
export function lineParts(event: AuditEventInput, head: AuditReceipt | undefined, { monoMs }: EventStamp): LineParts {
  const { metadata, responseTimeMs } = event;
  if (!isObject(metadata)) throw new TypeError('"metadata" is not an object');
  for (const key of LOG_FIELDS) if (Object.hasOwn(metadata, key)) throw new TypeError(`"metadata.${key}" is written by the log`);
  if (typeof responseTimeMs !== "number" || responseTimeMs < 0) throw new TypeError('"response_time_ms" is not a number from 0');
  if (event.id === "" || event.eventType.length === 0) throw new TypeError(`"${event.id === "" ? "id" : "event_type"}" is empty`);
  const own = metadataText(metadata, { seq: nextSeq(head), monoMs });
  const previous = head === undefined ? "null" : `"${head.hash}"`;
  // The canonical order, written out: one pass instead of a sort of the same sixteen keys for every event.
  return {
    before: MEMBER.agent(event.agent) + MEMBER.category(event.category) + MEMBER.decision(event.decision),
    after:
      `${MEMBER.eventType(event.eventType)},"id":${quote("id", event.id)},"metadata":${own}` +
      `${MEMBER.policyRule(event.policyRule)},"previous_event_hash":${previous}${MEMBER.requestId(event.requestId)}` +
      `,"response_time_ms":${canonicalJson(responseTimeMs)}${MEMBER.riskLevel(event.riskLevel)},"timestamp":${timestamp(event.atMs)}` +
      `${MEMBER.tool(event.tool)},"type":"audit_event","version":"${VERSION}"}`,
  };
}

/** The canonical text of the metadata with what the log adds. */
function metadataText(metadata: JsonObject, { seq, monoMs }: { readonly seq: number; readonly monoMs: number | undefined }): string {
  const keys = Object.keys(metadata);
  keys.push("seq");
  if (monoMs !== undefined) keys.push("mono_ms");
  keys.sort(); // by UTF-16 units, as RFC 8785 wants
  let text = "{";
  for (const key of keys) {
    const value = key === "seq" ? seq : key === "mono_ms" ? monoMs : metadata[key];
    text += `${text.length > 1 ? "," : ""}${quote("metadata", key)}:${valueText(value)}`;
  }
  return `${text}}`;
}

function valueText(value: JsonValue | undefined): string {
  if (typeof value === "string") return quote("metadata", value);
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  // Two levels down, as it stands in the line, so that it is refused where it is nested too deep there.
  return canonicalJson([[value]]).slice(2, -2);
}

/** Never writes what a verifier refuses: types promise nothing about a caller in JavaScript. */
function quote(field: string, value: string): string {
  if (typeof value !== "string") throw new TypeError(`"${field}" is not a text`);
  return value.length <= SHORT && isPlain(value) ? `"${value}"` : canonicalJson(value);
}

/** Longer texts are left to the platform. */
const SHORT = 64;

function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c || unit >= 0x7f) return false;
  }
  return true;
}

/** The members whose texts mostly repeat from event to event: each is made again only when its text is another. */
const MEMBER = {
  agent: textMember("agent"),
  category: textMember("category"),
  decision: textMember("decision"),
  eventType: textMember("event_type"),
  policyRule: textMember("policy_rule"),
  requestId: textMember("request_id"),
  riskLevel: textMember("risk_level"),
  tool: textMember("tool"),
} as const;

function textMember(field: string): (value: string) => string {
  const start = `${field === FIELDS[0] ? "{" : ","}"${field}":`;
  let last = "";
  let member = `${start}""`;
  return (value) => {
    if (value === last) return member;
    member = start + quote(field, value);
    last = value;
    return member;
  };
}

/** Many events share a millisecond. */
let lastTime: { readonly atMs: number; readonly text: string } | undefined;

function timestamp(atMs: number): string {
  if (lastTime?.atMs === atMs) return lastTime.text;
  const text = isoTime(atMs);
  if (readTime(text) === undefined) throw new TypeError('"timestamp" is not a UTC time with milliseconds');
  lastTime = { atMs, text: `"${text}"` };
  return lastTime.text;
}

// The first such field of a canonical event is its own: before it stand only the text values of agent, category and decision, and inside a
// text a quote is always escaped. So the hash can be taken out without a second serialisation.
function unseal(line: string, hash: string): string {
  const field = `,"event_hash":"${hash}"`;
  const at = line.indexOf(field);
  return line.slice(0, at) + line.slice(at + field.length);
}

/** The event of a line, or what is wrong with the line itself; its link to the line before is {@link checkLink}'s. */
export function decodeEvent(
  line: string,
): { readonly ok: true; readonly event: AuditEvent } | { readonly ok: false; readonly fault: AuditFault } {
  let wire: unknown;
  try {
    wire = JSON.parse(line);
  } catch {
    return bad("not_json", "it is not JSON");
  }
  if (!isCanonical(line, wire)) return bad("not_canonical", "it is not the canonical form of what it says");
  const event = readEvent(wire);
  if (typeof event === "string") return bad("schema_invalid", event);
  if (sha256(unseal(line, event.hash)) !== event.hash) return bad("hash_mismatch", "it was changed: its hash is another");
  return { ok: true, event };
}

/** The event of a line that was proven good before: only reads it. */
export function parseEvent(line: string): AuditEvent {
  const event = readEvent(JSON.parse(line));
  if (typeof event === "string") throw new TypeError(event);
  return event;
}

function bad(code: AuditFaultCode, message: string): { readonly ok: false; readonly fault: AuditFault } {
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
export function checkLink(event: AuditEvent, head: AuditReceipt | undefined): AuditFault | undefined {
  const seq = nextSeq(head);
  if (event.seq !== seq) return { code: "seq_broken", message: `its sequence number is ${event.seq}, expected ${seq}` };
  if (event.previousHash !== (head === undefined ? null : head.hash)) {
    return { code: "chain_broken", message: "it does not follow the event before, which was changed or replaced" };
  }
  return undefined;
}

/** The event that the wire object is, or why it is none. */
function readEvent(wire: unknown): AuditEvent | string {
  if (!isObject(wire)) return "it is not an object";
  const unknown = Object.keys(wire).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined) return `it has an unknown field ${JSON.stringify(unknown)}`;
  if (wire["type"] !== "audit_event") return '"type" is not "audit_event"';
  if (wire["version"] !== VERSION) return `"version" is not "${VERSION}"`;
  const atMs = readTime(wire["timestamp"]);
  if (atMs === undefined) return '"timestamp" is not a UTC time with milliseconds';
  const hash = wire["event_hash"];
  if (!isHash(hash)) return '"event_hash" is not a SHA-256 hash';
  const previousHash = wire["previous_event_hash"];
  if (previousHash !== null && !isHash(previousHash)) return '"previous_event_hash" is neither null nor a SHA-256 hash';
  const responseTimeMs = wire["response_time_ms"];
  if (typeof responseTimeMs !== "number" || responseTimeMs < 0) return '"response_time_ms" is not a number from 0';
  const { metadata: given } = wire;
  if (!isObject(given)) return '"metadata" is not an object';
  const { seq, mono_ms: monoMs, ...metadata } = given;
  if (typeof seq !== "number" || !Number.isSafeInteger(seq) || seq < 0) return '"metadata.seq" is not a sequence number';
  if (monoMs !== undefined && (typeof monoMs !== "number" || monoMs < 0)) return '"metadata.mono_ms" is not a number from 0';
  const texts = readTexts(wire);
  if (typeof texts === "string") return texts;
  return { ...texts, atMs, responseTimeMs, metadata, seq, ...(monoMs === undefined ? {} : { monoMs }), previousHash, hash };
}

type Texts = Pick<AuditEvent, "id" | "eventType" | "requestId" | "agent" | "tool" | "category" | "riskLevel" | "decision" | "policyRule">;

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
  if (wrong[0] !== undefined) return `"${wrong[0]}" is not a text`;
  if (texts.id === "" || texts.eventType === "") return `"${texts.id === "" ? "id" : "event_type"}" is empty`;
  return texts;
}

function readTime(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const ms = parseIsoTime(value);
  return ms !== undefined && isoTime(ms) === value ? ms : undefined;
}

function isHash(value: unknown): value is string {
  return typeof value === "string" && HASH.test(value);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

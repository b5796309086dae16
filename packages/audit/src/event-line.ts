/**
 * Event line: the canonical text of one event, but for its hash. Pure, and on the way of every
 * decision: what repeats from event to event is made once. Format: spec/audit.md.
 */
import {
  type AuditEventInput,
  type AuditReceipt,
  type JsonObject,
  type JsonValue,
  canonicalJson,
  isJsonObject,
  isoTime,
  parseIsoTime,
} from "@acp/core";

/** `version` of every event. */
export const EVENT_VERSION = "0.2.0";
/** What the log writes into an event's metadata. */
const LOG_FIELDS = ["seq", "mono_ms"] as const;
const PREFIX = "sha256:";

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

/** Number of the event that follows `head`. */
export function nextSeq(head: AuditReceipt | undefined): number {
  return head === undefined ? 0 : head.seq + 1;
}

/**
 * The line of an event that follows `head`, but for its hash.
 *
 * @throws ConsentError of any `json_` code, or TypeError, where the event has no line.
 */
export function lineParts(
  event: AuditEventInput,
  head: AuditReceipt | undefined,
  { monoMs }: EventStamp,
): LineParts {
  const { metadata, responseTimeMs } = event;
  if (!isJsonObject(metadata)) throw new TypeError('"metadata" is not an object');
  for (const key of LOG_FIELDS)
    if (Object.hasOwn(metadata, key))
      throw new TypeError(`"metadata.${key}" is written by the log`);
  if (typeof responseTimeMs !== "number" || responseTimeMs < 0)
    throw new TypeError('"response_time_ms" is not a number from 0');
  if (event.id === "" || event.eventType.length === 0)
    throw new TypeError(`"${event.id === "" ? "id" : "event_type"}" is empty`);
  const own = metadataText(metadata, { seq: nextSeq(head), monoMs });
  const previous = head === undefined ? "null" : `"${head.hash}"`;
  // The canonical order, written out: one pass instead of a sort of the same sixteen keys for every
  // event.
  return {
    before:
      MEMBER.agent(event.agent) + MEMBER.category(event.category) + MEMBER.decision(event.decision),
    after:
      `${MEMBER.eventType(event.eventType)},"id":${quote("id", event.id)},"metadata":${own}` +
      `${MEMBER.policyRule(event.policyRule)},"previous_event_hash":${previous}${MEMBER.requestId(event.requestId)}` +
      `,"response_time_ms":${canonicalJson(responseTimeMs)}${MEMBER.riskLevel(event.riskLevel)},"timestamp":${timestamp(event.atMs)}` +
      `${MEMBER.tool(event.tool)},"type":"audit_event","version":"${EVENT_VERSION}"}`,
  };
}

/** The canonical text of the metadata with what the log adds. */
function metadataText(
  metadata: JsonObject,
  { seq, monoMs }: { readonly seq: number; readonly monoMs: number | undefined },
): string {
  const keys = Object.keys(metadata);
  keys.push("seq");
  if (monoMs !== undefined) keys.push("mono_ms");
  let text = "";
  for (const key of sorted(keys)) {
    const value = key === "seq" ? seq : key === "mono_ms" ? monoMs : metadata[key];
    text += text === "" ? "{" : ",";
    text += keyText(key);
    text += valueText(value);
  }
  return `${text}}`;
}

/** Up to here insertion beats the platform's sort. */
const FEW = 24;

/** By UTF-16 units, as RFC 8785 wants. */
function sorted(keys: string[]): readonly string[] {
  if (keys.length > FEW) return keys.sort();
  for (let next = 1; next < keys.length; next++) {
    const key = keys[next] ?? "";
    let at = next;
    for (; at > 0 && (keys[at - 1] ?? "") > key; at--) keys[at] = keys[at - 1] ?? "";
    keys[at] = key;
  }
  return keys;
}

/** Keys are few, and come again with every event. */
const keyTexts = new Map<string, string>();
const KEY_TEXTS_MAX = 256;

function keyText(key: string): string {
  const kept = keyTexts.get(key);
  if (kept !== undefined) return kept;
  const text = `${quote("metadata", key)}:`;
  if (keyTexts.size < KEY_TEXTS_MAX) keyTexts.set(key, text);
  return text;
}

function valueText(value: JsonValue | undefined): string {
  if (typeof value === "string") return quote("metadata", value);
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  // Two levels down, as it stands in the line, so that it is refused where it is nested too deep
  // there.
  return canonicalJson([[value]]).slice(2, -2);
}

/** Never writes what a verifier refuses: types promise nothing about a caller in JavaScript. */
function quote(field: string, value: string): string {
  if (typeof value !== "string") throw new TypeError(`"${field}" is not a string`);
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

/**
 * The members whose texts mostly repeat from event to event: each is made again only when its text
 * is another.
 */
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
  const start = `${field === "agent" ? "{" : ","}"${field}":`;
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

const TIME_CHARS = "1970-01-01T00:00:00.000Z".length;

function timestamp(atMs: number): string {
  if (lastTime?.atMs === atMs) return lastTime.text;
  const text = isoTime(atMs);
  // With as many digits of the year as a reader takes, and from 1970 on.
  if (text.length !== TIME_CHARS || atMs <= -1)
    throw new TypeError('"timestamp" is not a UTC time with milliseconds');
  lastTime = { atMs, text: `"${text}"` };
  return lastTime.text;
}

/** The time that a timestamp says, where it is UTC with milliseconds and nothing else. */
export function readTime(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const ms = parseIsoTime(value);
  return ms !== undefined && isoTime(ms) === value ? ms : undefined;
}

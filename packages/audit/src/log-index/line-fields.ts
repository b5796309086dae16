/**
 * Line fields: what an index needs of a line, read without parsing its metadata, which may be
 * large. Only for lines that were proven good. Pure.
 */
import { isJsonObject } from "@acp/core";
import { type AuditFilter, approversOf, listOf } from "../filter.js";

/** What of an event an index keeps. */
export interface LineFields {
  readonly agent: string;
  readonly tool: string;
  readonly decision: string;
  readonly eventType: string;
  readonly requestId: string;
  /** Id of the event. */
  readonly id: string;
  /** Id of the call that it belongs to, where it says so. */
  readonly call: string | undefined;
  /** Who answered, where it says so. */
  readonly approvers: readonly string[];
  readonly atMs: number;
  readonly hash: string;
}

/** What metadata says. */
type OfMetadata = Pick<LineFields, "call" | "approvers">;

const METADATA = ',"metadata":{';
const POLICY_RULE = ',"policy_rule":"';
const CALL = '"call":"';
const APPROVER = '"approver';
const QUOTE = 0x22;
const BRACE = 0x7b;
/** An id is found by its first characters: the prefix of its kind and eight digits. */
const ID_CHARS = 11;

/** The fields of a line; `undefined` where it has none such. */
export function readLineFields(bytes: Buffer, start: number, end: number): LineFields | undefined {
  // No text holds an unescaped quote: the first of these words, and the last, are the event's own.
  const metadata = bytes.indexOf(METADATA, start);
  const rule = bytes.subarray(start, end).lastIndexOf(POLICY_RULE);
  if (metadata === -1 || metadata >= end || rule === -1) return undefined;
  try {
    const text = bytes.subarray(metadata + METADATA.length - 1, start + rule);
    const said = { call: readCall(text), approvers: readApprovers(text) };
    const before = bytes.toString("utf8", start, metadata);
    const after = bytes.toString("utf8", start + rule + 1, end);
    return plainFields(before, after, said) ?? parsedFields(before, after, said);
  } catch {
    return undefined;
  }
}

/** Id of the call that the metadata of a good line names. */
export function readLineCall(bytes: Buffer, start: number, end: number): string | undefined {
  const metadata = bytes.indexOf(METADATA, start);
  const rule = bytes.subarray(start, end).lastIndexOf(POLICY_RULE);
  if (metadata === -1 || metadata >= end || rule === -1) return undefined;
  return readCall(bytes.subarray(metadata + METADATA.length - 1, start + rule));
}

const FORWARDED_SEQ = ',"forwarded_seq":';
const SEQ = /^\d{1,15}(?=[,}])/;

/**
 * The number of the event that the end of a call names; `undefined` where all of the line has to be
 * read for it. In metadata without objects no other member looks like this one.
 */
export function readForwardedSeq(bytes: Buffer, start: number, end: number): number | undefined {
  const line = bytes.subarray(start, end);
  const metadata = line.indexOf(METADATA) + METADATA.length;
  const at = line.indexOf(FORWARDED_SEQ, metadata);
  if (at === -1 || line.indexOf(BRACE, metadata) !== -1) return undefined;
  const from = at + FORWARDED_SEQ.length;
  const [digits] = SEQ.exec(line.toString("latin1", from, from + 16)) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

const TEXT = '"([^"\\\\]*)"';
const BEFORE = new RegExp(
  `^\\{"agent":${TEXT},"category":${TEXT},"decision":${TEXT},"event_hash":${TEXT},"event_type":${TEXT},"id":${TEXT}$`,
);
const AFTER = new RegExp(`,"request_id":${TEXT},.*,"timestamp":${TEXT},"tool":${TEXT},"type":`);

/** Those of a line whose texts need no unescaping, which are nearly all. */
function plainFields(before: string, after: string, said: OfMetadata): LineFields | undefined {
  if (after.includes("\\")) return undefined;
  const [, agent, , decision, hash, eventType, id] = BEFORE.exec(before) ?? [];
  const [, requestId, timestamp, tool] = AFTER.exec(after) ?? [];
  return fieldsOf(
    {
      agent,
      decision,
      event_hash: hash,
      event_type: eventType,
      id,
      request_id: requestId,
      timestamp,
      tool,
    },
    said,
  );
}

function parsedFields(before: string, after: string, said: OfMetadata): LineFields | undefined {
  const one: unknown = JSON.parse(`${before}}`);
  const other: unknown = JSON.parse(`{${after}`);
  return isJsonObject(one) && isJsonObject(other)
    ? fieldsOf({ ...one, ...other }, said)
    : undefined;
}

/**
 * The call that metadata names. Arguments may hold the same words: where they are there once, a key
 * too many does no harm; otherwise all of it is parsed.
 */
function readCall(metadata: Buffer): string | undefined {
  const at = metadata.indexOf(CALL);
  if (at === -1) return undefined;
  const from = at + CALL.length;
  if (metadata.indexOf(CALL, from) === -1) {
    const text = metadata.toString("utf8", from, metadata.indexOf(QUOTE, from));
    if (!text.includes("\\")) return text;
  }
  const parsed: unknown = JSON.parse(metadata.toString("utf8"));
  const call = isJsonObject(parsed) ? parsed["call"] : undefined;
  return typeof call === "string" ? call : undefined;
}

/** Few events say it; of those all is parsed. */
function readApprovers(metadata: Buffer): readonly string[] {
  if (!metadata.includes(APPROVER)) return [];
  const parsed: unknown = JSON.parse(metadata.toString("utf8"));
  return isJsonObject(parsed) ? approversOf(parsed) : [];
}

function fieldsOf(
  wire: Readonly<Record<string, unknown>>,
  said: OfMetadata,
): LineFields | undefined {
  const { agent, tool, decision, event_type: eventType, event_hash: hash } = wire;
  const { request_id: requestId, timestamp, id } = wire;
  if (typeof agent !== "string" || typeof tool !== "string" || typeof decision !== "string")
    return undefined;
  if (typeof eventType !== "string" || typeof requestId !== "string") return undefined;
  if (typeof hash !== "string" || typeof id !== "string") return undefined;
  const atMs = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(atMs)
    ? undefined
    : { agent, tool, decision, eventType, requestId, id, ...said, atMs, hash };
}

/** One text for several values, of which none can look like another. */
const key = (kind: string, ...values: readonly string[]): string =>
  JSON.stringify([kind, ...values]);

const idKey = (id: string): string => key("id", id.slice(0, ID_CHARS));

/** The keys under which an event is found that hardly any other one shares. */
export function ownKeysOf(fields: LineFields): readonly string[] {
  const { requestId, id, call = "", approvers } = fields;
  const ids = [id, requestId, call].filter((each) => each !== "").map(idKey);
  const people = approvers.map((each) => key("approver", each));
  return [...ids, ...people, ...(requestId === "" ? [] : [key("request", requestId)])];
}

/** One text for all events with the same {@link sharedKeysOf}. */
export function kindOf({ agent, tool, decision, eventType }: LineFields): string {
  return `${eventType}\n${decision}\n${tool.length}\n${tool}\n${agent}`;
}

/** The keys that many events share: alone, and agent, tool and decision together. */
export function sharedKeysOf(line: LineFields): readonly string[] {
  const { agent, tool, decision, eventType } = line;
  return [
    key("type", eventType),
    key("agent", agent),
    key("tool", tool),
    key("decision", decision),
    key("agent tool", agent, tool),
    key("agent decision", agent, decision),
    key("tool decision", tool, decision),
    key("agent tool decision", agent, tool, decision),
  ];
}

/**
 * The keys that an event which the filter lets through has; one of each list. An empty request is
 * every event without a question, of which no keys are kept.
 */
export function keysOfFilter(filter: AuditFilter): readonly (readonly string[])[] {
  const { requestId, eventType, id, agent, tool, decision, approver } = filter;
  const requests = requestId === undefined ? undefined : listOf(requestId);
  const ids = id === undefined ? [] : listOf(id);
  const named = (["agent", "tool", "decision"] as const).filter(
    (field) => filter[field] !== undefined,
  );
  const values = [agent, tool, decision].filter((value) => value !== undefined);
  return [
    ...(requests === undefined || requests.includes("")
      ? []
      : [requests.map((each) => key("request", each))]),
    ...(eventType === undefined ? [] : [listOf(eventType).map((type) => key("type", type))]),
    // A shorter beginning may be that of many.
    ...(ids.length === 0 || ids.some(({ length }) => length < ID_CHARS) ? [] : [ids.map(idKey)]),
    ...(approver === undefined ? [] : [[key("approver", approver)]]),
    ...(named.length === 0 ? [] : [[key(named.join(" "), ...values)]]),
  ];
}

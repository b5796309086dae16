/**
 * Line fields: what an index needs of a line, read without parsing its metadata, which may be
 * large. Only for lines that were proven good. Pure.
 */
import { isJsonObject } from "@acp/core";
import type { AuditFilter } from "../filter.js";

/** What of an event an index keeps. */
export interface LineFields {
  readonly agent: string;
  readonly tool: string;
  readonly decision: string;
  readonly eventType: string;
  readonly requestId: string;
  readonly atMs: number;
  readonly hash: string;
}

const METADATA = ',"metadata":{';
const POLICY_RULE = ',"policy_rule":"';

/** The fields of a line; `undefined` where it has none such. */
export function readLineFields(bytes: Buffer, start: number, end: number): LineFields | undefined {
  // No text holds an unescaped quote: the first of these words, and the last, are the event's own.
  const metadata = bytes.indexOf(METADATA, start);
  const rule = bytes.subarray(start, end).lastIndexOf(POLICY_RULE);
  if (metadata === -1 || metadata >= end || rule === -1) return undefined;
  try {
    const before: unknown = JSON.parse(`${bytes.toString("utf8", start, metadata)}}`);
    const after: unknown = JSON.parse(`{${bytes.toString("utf8", start + rule + 1, end)}`);
    return isJsonObject(before) && isJsonObject(after)
      ? fieldsOf({ ...before, ...after })
      : undefined;
  } catch {
    return undefined;
  }
}

function fieldsOf(wire: Readonly<Record<string, unknown>>): LineFields | undefined {
  const { agent, tool, decision, event_type: eventType, event_hash: hash } = wire;
  const { request_id: requestId, timestamp } = wire;
  if (typeof agent !== "string" || typeof tool !== "string" || typeof decision !== "string")
    return undefined;
  if (typeof eventType !== "string" || typeof requestId !== "string") return undefined;
  if (typeof hash !== "string") return undefined;
  const atMs = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(atMs)
    ? undefined
    : { agent, tool, decision, eventType, requestId, atMs, hash };
}

/** One text for several values, of which none can look like another. */
const key = (kind: string, ...values: readonly string[]): string =>
  JSON.stringify([kind, ...values]);

/** The keys under which an event is found: alone, and agent, tool and decision together. */
export function keysOfLine(line: LineFields): readonly string[] {
  const { agent, tool, decision, eventType, requestId } = line;
  return [
    ...(requestId === "" ? [] : [key("request", requestId)]),
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
  const { requestId, eventType, agent, tool, decision } = filter;
  const requests = typeof requestId === "string" ? [requestId] : requestId;
  const types = typeof eventType === "string" ? [eventType] : eventType;
  const named = (["agent", "tool", "decision"] as const).filter(
    (field) => filter[field] !== undefined,
  );
  const values = [agent, tool, decision].filter((value) => value !== undefined);
  return [
    ...(requests === undefined || requests.includes("")
      ? []
      : [requests.map((each) => key("request", each))]),
    ...(types === undefined ? [] : [types.map((each) => key("type", each))]),
    ...(named.length === 0 ? [] : [[key(named.join(" "), ...values)]]),
  ];
}

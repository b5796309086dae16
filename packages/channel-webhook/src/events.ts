/**
 * Events: the three messages that a receiver gets. Format: spec/webhook.md §3.
 */
import { randomUUID } from "node:crypto";
import {
  type ConsentOutcome,
  type ConsentRequest,
  type Ending,
  type JsonObject,
  MESSAGE_VERSION,
  encodeRequest,
  escapeText,
  isoTime,
} from "@acp/core";
import type { OutgoingMessage } from "./send.js";

const encoder = new TextEncoder();

/**
 * The same JSON with the characters as escapes that could hide or reorder: also a receiver's log
 * shows what is there.
 */
const write = (body: JsonObject): Uint8Array => encoder.encode(escapeText(JSON.stringify(body)));

const message = (body: JsonObject): OutgoingMessage => ({
  id: `msg_${randomUUID()}`,
  body: write(body),
});

/** A question, as S0 §4.1 writes it; with a link for each person where pages are served. */
export function questionEvent(
  request: ConsentRequest,
  links: Readonly<Record<string, string>> | undefined,
): OutgoingMessage {
  return message({ ...encodeRequest(request), ...(links === undefined ? {} : { links }) });
}

/** The end of a question: its screen can be taken back. */
export function endedEvent(
  { id }: ConsentRequest,
  { status, reason, successorId }: Ending,
  nowMs: number,
): OutgoingMessage {
  return message({
    type: "consent_ended",
    version: MESSAGE_VERSION,
    request_id: id,
    timestamp: isoTime(nowMs),
    status,
    reason,
    ...(successorId === undefined ? {} : { successor_id: successorId }),
  });
}

/** What became of a yes: only `ran` means that the action was performed. */
export function outcomeEvent(
  { id }: ConsentRequest,
  { status, detail }: ConsentOutcome,
  nowMs: number,
): OutgoingMessage {
  return message({
    type: "consent_outcome",
    version: MESSAGE_VERSION,
    request_id: id,
    timestamp: isoTime(nowMs),
    status,
    detail,
  });
}

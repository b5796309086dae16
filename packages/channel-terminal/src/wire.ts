/**
 * Wire: the messages of the approve socket, one JSON object a line. Strict both ways: what is not
 * exactly a message is an error. Format: spec/approve-socket.md.
 */
import type {
  AnswerReceipt,
  Ending,
  FieldReader,
  JsonObject,
  PausedEnd,
  ConsentOutcome,
} from "@acp/core";
import {
  CONSENT_OUTCOMES,
  ConsentError,
  END_STATUSES,
  JSON_BYTES_MAX,
  REFUSAL_CODES,
  RESPONSE_BYTES_MAX,
  decodeRequest,
  encodeRequest,
  escapeText,
  parseJson,
  readFields,
} from "@acp/core";
import type { OpenQuestion } from "./approver-client.js";

/** Name of the protocol, in both hellos. */
const PROTOCOL = "acp-approve";
/** Version of the protocol; another one is refused. */
const PROTOCOL_VERSION = 1;
/** Bytes of a line from the gate: a question with the longest text and the largest action. */
export const GATE_LINE_BYTES_MAX: number = JSON_BYTES_MAX;
/** Bytes of a line from a client: the largest answer and its envelope. */
export const CLIENT_LINE_BYTES_MAX: number = RESPONSE_BYTES_MAX + 1024;
/**
 * Characters of a reason or message; longer ones are cut, so that no text of an error can break the
 * connection.
 */
const TEXT_CHARS_MAX = 4_000;

const SOCKET_ERROR_CODES = [
  "version_unsupported",
  "message_invalid",
  "viewer_cannot_answer",
  "closing",
] as const;
const ROLES: readonly ClientRole[] = ["approver", "viewer"];

/** Why the gate closes a connection. */
export type SocketErrorCode = (typeof SOCKET_ERROR_CODES)[number];

/** Whether a client can answer questions, or only see them. */
export type ClientRole = "approver" | "viewer";

/** What a client sends. */
export type ClientMessage =
  | { readonly type: "hello"; readonly role: ClientRole }
  | { readonly type: "answer"; readonly answer: number; readonly claim: JsonObject }
  /**
   * Somebody paused an agent: the gate looks who is paused, and ends their open questions. It names
   * nobody, so that it can pause nobody.
   */
  | { readonly type: "end_paused"; readonly look: number };

/** What the gate sends. */
export type GateMessage =
  | {
      readonly type: "hello";
      readonly channel: string;
      readonly pid: number;
      readonly open: number;
    }
  | { readonly type: "open"; readonly question: OpenQuestion }
  | { readonly type: "ended"; readonly id: string; readonly ending: Ending }
  | { readonly type: "outcome"; readonly id: string; readonly outcome: ConsentOutcome }
  | { readonly type: "receipt"; readonly answer: number; readonly receipt: AnswerReceipt }
  | { readonly type: "paused_ended"; readonly look: number; readonly end: PausedEnd }
  | { readonly type: "error"; readonly code: SocketErrorCode; readonly message: string };

const line = (message: JsonObject): string => `${JSON.stringify(message)}\n`;
const clip = (text: string): string =>
  escapeText(text)
    .slice(0, TEXT_CHARS_MAX)
    .replace(/[\ud800-\udbff]$/, "");

/** One line for the gate. */
export function writeClientMessage(message: ClientMessage): string {
  if (message.type === "hello")
    return line({
      type: "hello",
      protocol: PROTOCOL,
      version: PROTOCOL_VERSION,
      role: message.role,
    });
  if (message.type === "end_paused") return line({ type: "end_paused", look: message.look });
  return line({ type: "answer", answer: message.answer, claim: message.claim });
}

function encodeReceipt(receipt: AnswerReceipt): JsonObject {
  if (receipt.status === "reshow")
    return { status: "reshow", request: encodeRequest(receipt.request) };
  return receipt.status === "refused"
    ? { ...receipt, reason: clip(receipt.reason) }
    : { ...receipt };
}

/** One line for a client. */
export function writeGateMessage(message: GateMessage): string {
  switch (message.type) {
    case "hello":
      return line({ ...message, protocol: PROTOCOL, version: PROTOCOL_VERSION });
    case "open":
      return line({
        type: "open",
        request: encodeRequest(message.question.request),
        redelivery: message.question.redelivery,
      });
    case "ended": {
      const { status, reason, successorId } = message.ending;
      return line({
        type: "ended",
        id: message.id,
        status,
        reason: clip(reason),
        ...(successorId === undefined ? {} : { successor_id: successorId }),
      });
    }
    case "outcome":
      return line({
        type: "outcome",
        id: message.id,
        status: message.outcome.status,
        detail: clip(message.outcome.detail),
      });
    case "receipt":
      return line({ type: "receipt", answer: message.answer, ...encodeReceipt(message.receipt) });
    case "paused_ended":
      return line({
        type: "paused_ended",
        look: message.look,
        ended: message.end.ended,
        left: message.end.left,
      });
    case "error":
      return line({ type: "error", code: message.code, message: clip(message.message) });
    default:
      return message satisfies never;
  }
}

/** A hello of another protocol or version is told apart, so that its sender learns why. */
function readProtocol(fields: FieldReader): void {
  const protocol = fields.text("protocol");
  const version = fields.integer("version", 0, Number.MAX_SAFE_INTEGER);
  if (protocol === PROTOCOL && version === PROTOCOL_VERSION) return;
  throw new ConsentError(
    "message_invalid",
    `Cannot talk to the other side: it does not speak ${PROTOCOL} version ${PROTOCOL_VERSION}`,
    {
      path: "version",
    },
  );
}

const readCount = (fields: FieldReader, key: string): number =>
  fields.integer(key, 0, Number.MAX_SAFE_INTEGER);

/**
 * Reads one line from a client.
 *
 * @throws ConsentError `message_invalid` or a `json_*` code; `path` is `version` where the hello is
 *   of another protocol.
 */
export function readClientMessage(bytes: Uint8Array): ClientMessage {
  const fields = readFields(parseJson(bytes, { bytesMax: CLIENT_LINE_BYTES_MAX }), "message");
  const message = readClientFields(fields);
  fields.done();
  return message;
}

function readClientFields(fields: FieldReader): ClientMessage {
  const type = fields.oneOf("type", ["hello", "answer", "end_paused"] as const);
  switch (type) {
    case "hello":
      readProtocol(fields);
      return { type, role: fields.oneOf("role", ROLES) };
    case "answer":
      return { type, answer: readCount(fields, "answer"), claim: fields.raw("claim") };
    case "end_paused":
      return { type, look: readCount(fields, "look") };
    default:
      return type satisfies never;
  }
}

function readReceipt(fields: FieldReader): AnswerReceipt {
  const status = fields.oneOf("status", ["final", "counted", "reshow", "refused"] as const);
  switch (status) {
    case "final":
      return { status, outcome: fields.oneOf("outcome", END_STATUSES) };
    case "counted":
      return { status, have: readCount(fields, "have"), need: readCount(fields, "need") };
    case "reshow":
      return { status, request: decodeRequest(fields.raw("request")) };
    case "refused":
      return { status, code: fields.oneOf("code", REFUSAL_CODES), reason: fields.text("reason") };
    default:
      return status satisfies never;
  }
}

function readEnding(fields: FieldReader): Ending {
  const ending: Ending = {
    status: fields.oneOf("status", END_STATUSES),
    reason: fields.text("reason"),
  };
  const successorId = fields.optionalText("successor_id");
  return successorId === undefined ? ending : { ...ending, successorId };
}

function readGateFields(fields: FieldReader): GateMessage {
  const type = fields.oneOf("type", [
    "hello",
    "open",
    "ended",
    "outcome",
    "receipt",
    "paused_ended",
    "error",
  ] as const);
  switch (type) {
    case "hello":
      readProtocol(fields);
      return {
        type,
        channel: fields.text("channel"),
        pid: readCount(fields, "pid"),
        open: readCount(fields, "open"),
      };
    case "open":
      return {
        type,
        question: {
          request: decodeRequest(fields.raw("request")),
          redelivery: fields.flag("redelivery"),
        },
      };
    case "ended":
      return { type, id: fields.text("id"), ending: readEnding(fields) };
    case "outcome":
      return {
        type,
        id: fields.text("id"),
        outcome: {
          status: fields.oneOf("status", CONSENT_OUTCOMES),
          detail: fields.text("detail"),
        },
      };
    case "receipt":
      return { type, answer: readCount(fields, "answer"), receipt: readReceipt(fields) };
    case "paused_ended":
      return {
        type,
        look: readCount(fields, "look"),
        end: { ended: readCount(fields, "ended"), left: readCount(fields, "left") },
      };
    case "error":
      return {
        type,
        code: fields.oneOf("code", SOCKET_ERROR_CODES),
        message: fields.text("message"),
      };
    default:
      return type satisfies never;
  }
}

/**
 * Reads one line from the gate.
 *
 * @throws ConsentError `message_invalid` or a `json_*` code.
 */
export function readGateMessage(bytes: Uint8Array): GateMessage {
  const fields = readFields(parseJson(bytes, { bytesMax: GATE_LINE_BYTES_MAX }), "message");
  const message = readGateFields(fields);
  fields.done();
  return message;
}

/**
 * Codec: text to message and back, strictly: what is not exactly a message is an error, on the way
 * in and on the way out. Keys are written in the order of the protocol document. Format:
 * spec/exec-approval.md. Vectors: spec/vectors/exec-approval.json.
 */
import { ConsentError, copyJson, parseJson, readFields } from "@acp/core";
import type { FieldReader, JsonObject, JsonValue } from "@acp/core";
import { COMMAND_RISKS } from "@acp/core/exec";
import { APPROVAL_DECISIONS, EXEC_APPROVAL_ENDS } from "./protocol.js";
import type {
  ExecApprovalEndedPayload,
  ExecApprovalRequestPayload,
  Message,
  MessageAction,
  MessageHead,
  PresencePayload,
  ReceiptPayload,
  ResolveExecApprovalParams,
  ResolveExecApprovalResult,
  RpcError,
  RpcRequestPayload,
  RpcResponsePayload,
} from "./protocol.js";
import { isUuidV7 } from "./uuid-v7.js";

/**
 * Bytes of one message, at most: room for the longest command with every character escaped, and its
 * reasons.
 */
export const MESSAGE_BYTES_MAX: number = 1024 * 1024;
/** Bytes of one call: a client that sends many at once must not fill what waits for its hub. */
const REQUEST_BYTES_MAX: number = 16 * 1024;
/** Characters of a command in a message, at most; a longer one is denied, not cut. */
export const COMMAND_CHARS_MAX = 100_000;
const ID_CHARS_MAX = 128;
const AGENT_CHARS_MAX = 256;
const RPC_TEXT_CHARS_MAX = 1_024;

const VISIBLE = /^[!-~]+$/;

function invalid(path: string, want: string): ConsentError {
  return new ConsentError("message_invalid", `Cannot read "${path}": it is not ${want}`, { path });
}

/** Whether a text can be the id of a device: 1 to 128 visible ASCII characters. */
export function isDeviceId(text: string): boolean {
  return text.length <= ID_CHARS_MAX && VISIBLE.test(text);
}

/** An object under way, with its place for error texts. */
interface Read {
  readonly fields: FieldReader;
  readonly path: string;
}

const readAt = (value: JsonValue | undefined, path: string): Read => ({
  fields: readFields(value, path),
  path,
});

function readId({ fields, path }: Read, key: string): string {
  const id = fields.text(key, ID_CHARS_MAX);
  if (!isDeviceId(id))
    throw invalid(`${path}.${key}`, `1 to ${ID_CHARS_MAX} visible ASCII characters`);
  return id;
}

function readApprovalId({ fields, path }: Read): string {
  const id = fields.text("approvalId", ID_CHARS_MAX);
  if (!isUuidV7(id)) throw invalid(`${path}.approvalId`, "a UUIDv7 in lower case");
  return id;
}

function readApprovalRequest(read: Read): ExecApprovalRequestPayload {
  const { fields, path } = read;
  const approvalId = readApprovalId(read);
  const agentId = fields.text("agentId", AGENT_CHARS_MAX);
  const command = fields.text("command", COMMAND_CHARS_MAX);
  const cwd = fields.optionalText("cwd");
  if (agentId === "") throw invalid(`${path}.agentId`, "the name of an agent");
  return {
    approvalId,
    agentId,
    command,
    ...(cwd === undefined ? {} : { cwd }),
    riskLevel: fields.oneOf("riskLevel", COMMAND_RISKS),
    riskReasons: fields.texts("riskReasons"),
    expiresAtMs: fields.integer("expiresAtMs", 0, Number.MAX_SAFE_INTEGER),
  };
}

function readEnded(read: Read): ExecApprovalEndedPayload {
  return {
    approvalId: readApprovalId(read),
    outcome: read.fields.oneOf("outcome", EXEC_APPROVAL_ENDS),
  };
}

function readRequest(read: Read): RpcRequestPayload {
  return {
    requestId: readId(read, "requestId"),
    method: readId(read, "method"),
    params: read.fields.raw("params"),
  };
}

function readError({ fields, path }: Read): RpcError {
  const error = readAt(fields.raw("error"), `${path}.error`);
  const found: RpcError = {
    code: readId(error, "code"),
    message: error.fields.text("message", RPC_TEXT_CHARS_MAX),
  };
  error.fields.done();
  return found;
}

function readResponse(read: Read): RpcResponsePayload {
  const requestId = readId(read, "requestId");
  if (read.fields.flag("ok")) return { requestId, ok: true, payload: read.fields.raw("payload") };
  return { requestId, ok: false, error: readError(read) };
}

function readReceipt(read: Read): ReceiptPayload {
  const messageId = readId(read, "messageId");
  if (read.fields.flag("ok")) return { messageId, ok: true };
  return { messageId, ok: false, error: readError(read) };
}

function readPresence(read: Read): PresencePayload {
  return { deviceId: readId(read, "deviceId"), online: read.fields.flag("online") };
}

const READERS: Readonly<Record<MessageAction, (head: MessageHead, read: Read) => Message>> = {
  "exec-approval-request": (head, read) => ({
    ...head,
    action: "exec-approval-request",
    payload: readApprovalRequest(read),
  }),
  "exec-approval-ended": (head, read) => ({
    ...head,
    action: "exec-approval-ended",
    payload: readEnded(read),
  }),
  request: (head, read) => ({ ...head, action: "request", payload: readRequest(read) }),
  response: (head, read) => ({ ...head, action: "response", payload: readResponse(read) }),
  receipt: (head, read) => ({ ...head, action: "receipt", payload: readReceipt(read) }),
  presence: (head, read) => ({ ...head, action: "presence", payload: readPresence(read) }),
};

const ACTIONS: readonly MessageAction[] = Object.keys(READERS).filter((key): key is MessageAction =>
  Object.hasOwn(READERS, key),
);

/** The message in a JSON value, its keys in the document's order. */
function readMessage(value: JsonValue): Message {
  const read = readAt(value, "message");
  const head: MessageHead = {
    id: readId(read, "id"),
    from: readId(read, "from"),
    to: readId(read, "to"),
  };
  const action = read.fields.oneOf("action", ACTIONS);
  const payload = readAt(read.fields.raw("payload"), "message.payload");
  const message = READERS[action](head, payload);
  payload.fields.done();
  read.fields.done();
  return message;
}

/**
 * Reads one message. Format: spec/exec-approval.md.
 *
 * @throws ConsentError `message_invalid` with the path of the mistake, or a `json_*` code.
 */
export function decodeMessage(text: string | Uint8Array): Message {
  const message = readMessage(parseJson(text, { bytesMax: MESSAGE_BYTES_MAX }));
  if (message.action === "request" && Buffer.byteLength(text) > REQUEST_BYTES_MAX)
    throw invalid("message", `a call of at most ${REQUEST_BYTES_MAX} bytes`);
  return message;
}

/**
 * Writes one message, with its keys in the order of the protocol document. What {@link
 * decodeMessage} would refuse is not written.
 *
 * @throws ConsentError as {@link decodeMessage}.
 */
export function encodeMessage(message: Message): string {
  return JSON.stringify(decodeMessage(JSON.stringify(copyJson(message))));
}

/**
 * Reads the parameters of `resolveExecApproval`. Any text is accepted as an id; the hub answers an
 * unknown one with `NOT_FOUND`.
 *
 * @throws ConsentError `message_invalid`.
 */
export function readResolveParams(value: JsonObject): ResolveExecApprovalParams {
  const fields = readFields(value, "params");
  const approvalId = fields.text("approvalId", ID_CHARS_MAX);
  const decision = fields.oneOf("decision", APPROVAL_DECISIONS);
  const confirmation = fields.optionalText("confirmation", ID_CHARS_MAX);
  fields.done();
  return { approvalId, decision, ...(confirmation === undefined ? {} : { confirmation }) };
}

/**
 * Reads the result of `resolveExecApproval`.
 *
 * @throws ConsentError `message_invalid`.
 */
export function readResolveResult(value: JsonObject): ResolveExecApprovalResult {
  const fields = readFields(value, "result");
  const isOk = fields.flag("ok");
  const stored = fields.optionalText("stored");
  const note = fields.optionalText("note", RPC_TEXT_CHARS_MAX);
  fields.done();
  if (!isOk) throw invalid("result.ok", "true");
  return {
    ok: true,
    ...(stored === undefined ? {} : { stored }),
    ...(note === undefined ? {} : { note }),
  };
}

/**
 * Messages: what one line is, as far as the proxy needs to know. A client's line is taken only if
 * every reader reads it alike; what is left in doubt is refused and never forwarded. A server's
 * line is only looked at. Rules: spec/mcp-proxy.md §2.
 */
import { isUtf8 } from "node:buffer";
import type { OversizeLine } from "./framing.js";
import {
  countMembers,
  hasMoreValues,
  ODD_MEMBER,
  pickMembers,
  textOf,
  valueFrom,
} from "./json-walk.js";
import type { Picked, Span } from "./json-walk.js";
import { LONG_LINE_BYTES, VALUES_MAX } from "./limits.js";
import { fold } from "./fold.js";
import { methodProblem } from "./judged/methods.js";
import { INVALID_REQUEST, PARSE_ERROR } from "./rpc.js";
import type { RpcId } from "./rpc.js";

/** A request of the client. */
export interface ClientRequest {
  readonly kind: "request";
  readonly id: RpcId;
  readonly method: string;
  readonly params: unknown;
  readonly line: Buffer;
}

/** A notification of the client. */
export interface ClientNotification {
  readonly kind: "notification";
  readonly method: string;
  readonly params: unknown;
  readonly line: Buffer;
}

/** The client's answer to a server's request. */
export interface ClientResponse {
  readonly kind: "response";
  readonly id: RpcId;
  readonly line: Buffer;
}

/** A line that is not forwarded. */
export interface RefusedLine {
  readonly kind: "refused";
  /** Whom to tell; `undefined` where no id could be read. */
  readonly id: RpcId | undefined;
  readonly code: number;
  readonly reason: string;
}

/** A client's line, read. */
export type ClientMessage = ClientRequest | ClientNotification | ClientResponse | RefusedLine;

/**
 * A server's line, looked at. `unknown`: no JSON-RPC message that we understand. `odd`: some readers
 * would take it for another message than we do.
 */
export interface ServerMessage {
  readonly kind: "request" | "notification" | "response" | "unknown" | "odd";
  readonly method: string;
  readonly id: RpcId | undefined;
}

const CR = 0x0d;
const MEMBERS: ReadonlySet<string> = new Set([
  "jsonrpc",
  "id",
  "method",
  "params",
  "result",
  "error",
]);
/** What is looked at of a server's line. */
const LOOKED_AT = {
  id: [],
  method: [],
  error: ["code", "data"],
  result: ["isError", "task", "inputRequests", "requestState"],
};
const ID_AT_END = /"id"\s*:\s*("[^"\\]*"|-?\d+)\s*\}\s*$/;
const ID_AT_START = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*("[^"\\]*"|-?\d+)\s*,/;
const UNKNOWN: ServerMessage = { kind: "unknown", method: "", id: undefined };

/** Reads a client's line, or says why it is refused. `undefined`: a blank line. */
export function readClientLine(line: Buffer): ClientMessage | undefined {
  const body = line.subarray(0, endOfBody(line));
  // Servers that read text lines (Python, Java, .NET) end a line at CR too: what is one message
  // here would be several there.
  if (body.includes(CR)) return refuse(PARSE_ERROR, "the line contains a carriage return");
  if (!isUtf8(body)) return refuse(PARSE_ERROR, "the line is not UTF-8");
  if (hasMoreValues(body, VALUES_MAX))
    return refuse(INVALID_REQUEST, `it has more than ${VALUES_MAX} values`);
  const text = body.toString("utf8");
  if (text.trim() === "") return undefined;
  const members = countMembers(body);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse(PARSE_ERROR, "the line is not one JSON value");
  }
  if (Array.isArray(value))
    return refuse(INVALID_REQUEST, "it is a batch; send one message per line");
  if (!isRecord(value)) return refuse(INVALID_REQUEST, "it is not a JSON object");
  // A response's id is one of the server's; an error about it cannot be told to the client under
  // that id.
  const id = isId(value.id) && typeof value.method === "string" ? value.id : undefined;
  // A repeated key vanishes in parsing, so the counts differ.
  if (members !== countKeys(value))
    return refuse(INVALID_REQUEST, "an object holds the same key twice", id);
  const reason = oddity(value);
  return reason === undefined ? classify(value, line) : refuse(INVALID_REQUEST, reason, id);
}

/** Looks at a server's line: whose message it is. Never throws. */
export function readServerLine(line: Buffer): ServerMessage {
  const members = membersOfLine(line);
  if (members === undefined) return UNKNOWN;
  const [idSpan, methodSpan] = [members.get("id"), members.get("method")];
  const method = methodSpan === undefined ? undefined : stringAt(line, methodSpan);
  const id = idSpan === undefined ? undefined : idOf(textOf(line, idSpan));
  if (members.has(ODD_MEMBER)) return { kind: "odd", method: method ?? "", id };
  if (method !== undefined)
    return { kind: id === undefined ? "notification" : "request", method, id };
  return id === undefined ? UNKNOWN : { kind: "response", method: "", id };
}

/** Of long lines: whose they are is asked first, and later whether they tell a failure. */
const looked = new WeakMap<Buffer, Picked>();

/**
 * Where the id, the method, the error and the result of a server's line are; `undefined` where it is
 * no object. A long line is gone through once; its bytes must not change afterwards.
 */
export function membersOfLine(line: Buffer): Picked | undefined {
  const known = looked.get(line);
  if (known !== undefined) return known;
  const members = pickMembers(line, valueFrom(line), LOOKED_AT);
  if (members !== undefined && line.length > LONG_LINE_BYTES) looked.set(line, members);
  return members;
}

/** The `result` of a response line; `undefined` for an error or what is no response. */
export function resultOf(line: Buffer): unknown {
  const message = parsed(line, { start: 0, end: line.length });
  return isRecord(message) ? message.result : undefined;
}

/** The `params` of a line; `undefined` where there are none. */
export function paramsOf(line: Buffer): unknown {
  const message = parsed(line, { start: 0, end: line.length });
  return isRecord(message) ? message.params : undefined;
}

/** The progress token that a request's params carry. */
export function progressTokenOf(params: unknown): RpcId | undefined {
  const { _meta: meta } = isRecord(params) ? params : {};
  const token: unknown = isRecord(meta) ? meta.progressToken : undefined;
  return typeof token === "string" || typeof token === "number" ? token : undefined;
}

/**
 * The id of a line that was dropped for its length, where one of its ends shows it. A wrong guess
 * only misdirects an error.
 */
export function idAtEdges({ head, tail }: OversizeLine): RpcId | undefined {
  const text =
    ID_AT_END.exec(tail.toString("latin1"))?.[1] ?? ID_AT_START.exec(head.toString("latin1"))?.[1];
  return text === undefined ? undefined : idOf(text);
}

/** What is wrong with a tool call's `params`: members that some readers take for others. */
export function misspeltMember(
  params: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): string | undefined {
  const odd = Object.keys(params).find((key) => !known.has(key) && known.has(fold(key)));
  return odd === undefined
    ? undefined
    : `its member ${JSON.stringify(odd)} differs from "${fold(odd)}" in case only`;
}

/** Whether a value is an object that is no array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function oddity(value: Readonly<Record<string, unknown>>): string | undefined {
  const misspelt = misspeltMember(value, MEMBERS);
  if (misspelt !== undefined) return misspelt;
  const { id, method } = value;
  if (id !== undefined && !isId(id))
    return "its id is neither a string nor an integer within ±(2^53−1)";
  const answers = Number(Object.hasOwn(value, "result")) + Number(Object.hasOwn(value, "error"));
  if (!Object.hasOwn(value, "method"))
    return answers === 1 && id !== undefined
      ? undefined
      : "it is neither a request nor a notification nor a response";
  if (typeof method !== "string") return "its method is not a string";
  if (answers > 0) return "it is a request and a response at once";
  return methodProblem(method, id !== undefined);
}

function classify(
  { id, method, params }: Readonly<Record<string, unknown>>,
  line: Buffer,
): ClientMessage {
  if (typeof method !== "string")
    return isId(id) ? { kind: "response", id, line } : refuse(INVALID_REQUEST, "it has no id");
  return isId(id)
    ? { kind: "request", id, method, params, line }
    : { kind: "notification", method, params, line };
}

function refuse(code: number, why: string, id?: RpcId): RefusedLine {
  return { kind: "refused", id, code, reason: `Cannot accept the message: ${why}` };
}

/** Where the line's terminator starts: LF, or CR LF. */
function endOfBody(line: Buffer): number {
  return line.length > 1 && line[line.length - 2] === CR ? line.length - 2 : line.length - 1;
}

function isId(value: unknown): value is RpcId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** All keys of all objects inside a value; iterative, because the nesting is the sender's. */
export function countKeys(root: object): number {
  let count = 0;
  const open: object[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    const items: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
    const children: readonly unknown[] = items ?? Object.values(value);
    if (items === undefined) count += children.length;
    for (const child of children) if (typeof child === "object" && child !== null) open.push(child);
  }
  return count;
}

function stringAt(line: Buffer, span: Span): string | undefined {
  const value = parsed(line, span);
  return typeof value === "string" ? value : undefined;
}

function idOf(text: string): RpcId | undefined {
  const value = parse(text);
  return isId(value) ? value : undefined;
}

function parsed(line: Buffer, span: Span): unknown {
  return parse(textOf(line, span));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Call headers: what of a call's arguments the server wants as headers. Its own lists say that; where
 * they have changed since, it refuses the call for its headers, and is asked for them again. Source: MCP
 * 2026-07-28, "Custom Headers from Tool Parameters".
 */
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { LINE_BYTES_MAX, LIST_PAGES_MAX } from "../limits.js";
import { isRecord, resultOf } from "../message.js";
import { paramHeadersOfTools } from "../param-headers.js";
import { exchangeAuthorized } from "./authorization.js";
import { contentType, wholeBody } from "./exchange.js";
import type { Exchanged } from "./exchange.js";
import { readEvents } from "./events.js";
import { readMessage } from "./read-message.js";
import type { SentMessage } from "./read-message.js";
import { headersFor, paramHeaders } from "./remote-state.js";
import type { State } from "./remote-state.js";

/** Takes the answer to a request for tools. */
export function learnParamHeaders(
  state: State,
  { method, version }: SentMessage,
  answer: Buffer,
): void {
  if (method !== "tools/list" || version === undefined) return;
  state.tools = new Map([...state.tools, ...paramHeadersOfTools(resultOf(answer))]);
}

interface Answered {
  readonly response: Exchanged;
  readonly message: SentMessage;
  /** Sends it again, with the headers of now. */
  readonly send: () => Promise<Exchanged>;
}

const HEADER_MISMATCH = -32_020;

/**
 * The response to a call, once its headers are right. A call that was refused for its headers did
 * nothing, so it may be sent again; once.
 */
export async function withHeaders(
  state: State,
  { response, message, send }: Answered,
): Promise<Exchanged> {
  const isCall = message.method === "tools/call" && message.version !== undefined;
  if (!isCall || response.status !== 400 || contentType(response) !== "application/json")
    return response;
  const body = await wholeBody(response.body, LINE_BYTES_MAX);
  const before = JSON.stringify(paramHeaders(state, message));
  if (body !== undefined && isMismatch(body) && (await askForTools(state, message)))
    if (JSON.stringify(paramHeaders(state, message)) !== before) return send();
  return { ...response, body: Readable.from(body === undefined ? [] : [body]) };
}

function isMismatch(body: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return (
      isRecord(value) && isRecord(value["error"]) && value["error"]["code"] === HEADER_MISMATCH
    );
  } catch {
    return false;
  }
}

/** Asks the server for its tools; false where it does not say. */
async function askForTools(state: State, { meta }: SentMessage): Promise<boolean> {
  const { progressToken: _, ...own } = isRecord(meta) ? meta : {};
  let cursor: unknown;
  for (let page = 0; page < LIST_PAGES_MAX; page++) {
    const id = `acp-${randomUUID()}`;
    const params = { ...(typeof cursor === "string" && { cursor }), _meta: own };
    const line = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list", params }));
    const message = readMessage(line);
    const response = await exchangeAuthorized(state.authorization, state.endpoint, {
      method: "POST",
      headers: headersFor(state, message),
      body: line,
      signal: state.over.signal,
    });
    const answer = await answerOf(response, id);
    const result = answer === undefined ? undefined : resultOf(answer);
    if (answer === undefined || !isRecord(result)) return page > 0;
    learnParamHeaders(state, message, answer);
    cursor = result["nextCursor"];
    if (typeof cursor !== "string") return true;
  }
  return true;
}

async function answerOf(response: Exchanged, id: string): Promise<Buffer | undefined> {
  if (contentType(response) !== "text/event-stream")
    return wholeBody(response.body, LINE_BYTES_MAX);
  let answer: Buffer | undefined;
  const onEvent = ({ data }: { readonly data: string }): void => {
    const text = Buffer.from(data);
    if (readMessage(text).id !== id) return;
    answer = text;
    response.body.destroy();
  };
  const options = { charsMax: LINE_BYTES_MAX, pause: () => undefined };
  await readEvents(response.body, { onEvent, onRetry: () => {} }, options).catch(() => {});
  return answer;
}

/**
 * Screen: what a client may not send apart from tool calls. The gate judges calls. A resource is
 * read by a request of its own, and a client's roots say where a server may read. Nobody is asked
 * about these: whatever the host's screen objects to is refused. Rules: spec/mcp-proxy.md §3.
 */
import { isJsonObject } from "@acp/core";
import type { JsonObject } from "@acp/core";
import { isRecord, resultOf } from "./message.js";
import type { ClientNotification, ClientRequest, ClientResponse } from "./message.js";
import { errorLine, INVALID_REQUEST } from "./rpc.js";

/**
 * Returns why a message must not pass, or `undefined` if it may. Throwing also refuses it. For
 * `roots/list`, it gets the client's answer. Rules: spec/mcp-proxy.md §3.
 */
export type ScreenMessage = (method: string, params: JsonObject) => string | undefined;

type Message = ClientRequest | ClientNotification | ClientResponse;

/** What becomes of a message: a line for the client in its place, or what is passed on. */
export type Screened = { readonly refused: string } | { readonly passed: Message };

/** Judged elsewhere, or about nothing but the connection. */
const NOT_SCREENED: ReadonlySet<string> = new Set(["tools/call", "initialize", "ping"]);

function whyNot(screen: ScreenMessage, method: string, params: unknown): string | undefined {
  if (params === undefined) return undefined;
  try {
    return isJsonObject(params) ? screen(method, params) : "its params are not an object";
  } catch {
    return "it could not be inspected";
  }
}

/** Looks at one message of the client. */
export function screened(screen: ScreenMessage, message: Message): Screened {
  if (message.kind === "response") {
    const result = resultOf(message.line);
    const why =
      isRecord(result) && "roots" in result ? whyNot(screen, "roots/list", result) : undefined;
    if (why === undefined) return { passed: message };
    const error = { code: INVALID_REQUEST, message: "The client's roots were refused" };
    return { passed: { ...message, line: errorLine(message.id, error) } };
  }
  const why = NOT_SCREENED.has(message.method)
    ? undefined
    : whyNot(screen, message.method, message.params);
  return why === undefined
    ? { passed: message }
    : { refused: `Cannot pass on "${message.method}": ${why}` };
}

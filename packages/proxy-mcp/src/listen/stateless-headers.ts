/**
 * Stateless headers: a client without a session says in each message which version it speaks, and again
 * in headers, for those on the way that do not read bodies. What is judged is the body; a request whose
 * headers say something else is refused. Source: MCP 2026-07-28, "Streamable HTTP".
 */
import type { IncomingHttpHeaders } from "node:http";
import { decodeHeaderValue } from "../header-value.js";
import { isRecord } from "../message.js";
import type { ClientNotification, ClientRequest } from "../message.js";
import { INVALID_PARAMS } from "../rpc.js";
import type { Refusal } from "./refusal.js";

/** Stands in the `_meta` of a message that belongs to no session. */
export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
/** The versions that have sessions. */
const STATEFUL: ReadonlySet<string> = new Set([
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  "2025-11-25",
]);
/** Headers do not say what the body says. */
export const HEADER_MISMATCH = -32_020;

/** What of `params` stands in `mcp-name`. */
const NAMES: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/** Whether a header names a version that has sessions, or none. */
export const isStatefulVersion = (version: string | undefined): boolean =>
  version === undefined || STATEFUL.has(version);

/** Whether a message belongs to no session, as its body says. */
export function isStateless({ params }: { readonly params: unknown }): boolean {
  return Object.hasOwn(metaOf(params), VERSION_KEY);
}

/** Why a message without a session is refused. */
export function statelessRefusal(
  message: ClientRequest | ClientNotification,
  headers: IncomingHttpHeaders,
): Refusal | undefined {
  const meta = metaOf(message.params);
  const version = headers["mcp-protocol-version"];
  const isRequest = message.kind === "request";
  const inBody = meta[VERSION_KEY];
  // Of notifications no header is required.
  if (isRequest || version !== undefined) {
    if (inBody !== undefined && version !== inBody) return mismatch("mcp-protocol-version");
  }
  const method = one(headers["mcp-method"]);
  if ((isRequest || method !== undefined) && method !== message.method)
    return mismatch("mcp-method");
  if (!isNamed(message, one(headers["mcp-name"]))) return mismatch("mcp-name");
  if (typeof inBody !== "string" || (isRequest && !isRecord(meta[CAPABILITIES_KEY])))
    return {
      status: 400,
      code: INVALID_PARAMS,
      reason: `its _meta lacks ${typeof inBody === "string" ? CAPABILITIES_KEY : VERSION_KEY}`,
    };
  return undefined;
}

function isNamed(
  { kind, method, params }: ClientRequest | ClientNotification,
  header: string | undefined,
): boolean {
  const given = isRecord(params) ? params : {};
  const key = Object.hasOwn(NAMES, method) ? NAMES[method] : undefined;
  const said = header === undefined ? undefined : decodeHeaderValue(header);
  if (key === undefined)
    return header === undefined || [given["name"], given["uri"], given["taskId"]].includes(said);
  const name = given[key];
  // Without a name the request is refused for that.
  if (typeof name !== "string") return header === undefined;
  return header === undefined ? kind !== "request" : said === name;
}

const mismatch = (header: string): Refusal => ({
  status: 400,
  code: HEADER_MISMATCH,
  reason: `header mismatch: ${header} does not say what the body says`,
});

const one = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

function metaOf(params: unknown): Readonly<Record<string, unknown>> {
  const meta = isRecord(params) ? params["_meta"] : undefined;
  return isRecord(meta) ? meta : {};
}

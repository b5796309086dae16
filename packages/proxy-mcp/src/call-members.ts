/**
 * Members of a call's params beside its name and arguments. Nobody judges, logs or shows them, so
 * only what the protocol itself gives a meaning reaches the server. Rules: spec/mcp-proxy.md §3.
 */
import { replaceValues } from "./json-walk.js";
import { isRecord } from "./message.js";

/** Members of a `tools/call`'s params that some revision of the protocol knows. */
export const CALL_MEMBERS: ReadonlySet<string> = new Set([
  "name",
  "arguments",
  "_meta",
  "task",
  "inputResponses",
  "requestState",
]);

const isText = (value: unknown): boolean => typeof value === "string";
const isId = (value: unknown): boolean => typeof value === "string" || typeof value === "number";

/** What the protocol writes into `_meta`, and the form that it has there. */
const META: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["progressToken", isId],
  ["io.modelcontextprotocol/protocolVersion", isText],
  ["io.modelcontextprotocol/clientInfo", isRecord],
  ["io.modelcontextprotocol/clientCapabilities", isRecord],
  ["io.modelcontextprotocol/logLevel", isText],
  ["io.modelcontextprotocol/related-task", isRecord],
  ["traceparent", isText], // of W3C Trace Context, which the protocol reserves without a prefix
  ["tracestate", isText],
  ["baggage", isText],
]);

/** What is wrong with the members; `undefined` where nothing is. */
export function memberProblem(params: Readonly<Record<string, unknown>>): string | undefined {
  const unknown = Object.keys(params).find((key) => !CALL_MEMBERS.has(key));
  if (unknown !== undefined)
    return `its member ${JSON.stringify(unknown)} is not defined by MCP, so it could not be judged`;
  const { _meta: meta, task, inputResponses, requestState } = params;
  if (meta !== undefined && !isRecord(meta)) return "its _meta is not an object";
  if (task !== undefined && !isTask(task)) return "its task is not an object with a ttl only";
  if (inputResponses !== undefined && !isRecord(inputResponses))
    return "its inputResponses are not an object";
  return requestState === undefined || isText(requestState)
    ? undefined
    : "its requestState is not a string";
}

function isTask(task: unknown): boolean {
  return (
    isRecord(task) &&
    Object.entries(task).every(
      ([key, value]) => key === "ttl" && (typeof value === "number" || value === null),
    )
  );
}

const PREFIX = "io.modelcontextprotocol/";
/** What every request of the stateless era says about its client. */
const ERA: readonly string[] = ["protocolVersion", "clientInfo", "clientCapabilities"].map(
  (key) => `${PREFIX}${key}`,
);

/**
 * The `_meta` that a request of the proxy's own needs beside a request with these params: none unless
 * that is of the stateless era.
 */
export function eraOf(params: unknown): { readonly _meta?: object } {
  const meta = isRecord(params) && isRecord(params._meta) ? params._meta : {};
  const said = ERA.filter((key) => META.get(key)?.(meta[key]) === true);
  return said.length === 0
    ? {}
    : { _meta: Object.fromEntries(said.map((key) => [key, meta[key]])) };
}

/** A call's line without what only its sender understands. */
export interface CleanLine {
  readonly line: Buffer;
  /** Keys of `_meta` that were left out. */
  readonly leftOut: readonly string[];
}

/**
 * The line without the keys of `params._meta` that the protocol does not know; the very same bytes
 * where there are none.
 */
export function leaveOutMeta(line: Buffer, params: unknown): CleanLine {
  const meta = isRecord(params) && isRecord(params._meta) ? Object.entries(params._meta) : [];
  const kept = meta.filter(([key, value]) => META.get(key)?.(value) === true);
  if (kept.length === meta.length) return { line, leftOut: [] };
  const leftOut = meta.filter((entry) => !kept.includes(entry)).map(([key]) => key);
  return {
    line: replaceValues(line, [{ path: ["params", "_meta"], value: Object.fromEntries(kept) }]),
    leftOut,
  };
}

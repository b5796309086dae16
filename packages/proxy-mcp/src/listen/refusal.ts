/** Refusal: why a request is not served, as HTTP has it, with a JSON-RPC error as its body. */
import type { ServerResponse } from "node:http";
import { errorLine } from "../rpc.js";
import type { RpcId } from "../rpc.js";

/** Why, and under which status. */
export interface Refusal {
  readonly status: number;
  /** Of JSON-RPC. Default: -32000. */
  readonly code?: number;
  /** One sentence without a period. */
  readonly reason: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Nobody has the token, or nobody any more. */
export const UNKNOWN_TOKEN: Refusal = {
  status: 401,
  reason: "it has no token that is known here",
  headers: { "www-authenticate": 'Bearer realm="acp"' },
};

/** JSON-RPC's range for what a server defines itself. */
const REFUSED = -32_000;

/** Answers with it. What is left of the request's body is not read: its connection ends. */
export function refuse(
  response: ServerResponse,
  { status, code = REFUSED, reason, headers = {} }: Refusal,
  id?: RpcId,
): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const body = errorLine(id, { code, message: `Cannot serve the request: ${reason}` });
  const isWhole = response.req.complete;
  response.writeHead(status, {
    ...headers,
    "content-type": "application/json",
    "cache-control": "no-store",
    "content-length": body.length,
    // Nobody who is refused for who it is keeps a connection.
    ...((!isWhole || status === 401 || status === 403) && { connection: "close" }),
  });
  response.end(body);
  // A reset could overtake the answer: what still comes is thrown away, for a while.
  if (!isWhole) response.req.resume();
}

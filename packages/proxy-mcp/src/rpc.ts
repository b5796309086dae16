/**
 * JSON-RPC: the few messages that the proxy itself writes. Each is one line.
 */

/** Id of a request; integers beyond ±(2^53−1) are refused. */
export type RpcId = string | number;

/** The line is not one JSON text. */
export const PARSE_ERROR = -32700;
/** The text is not a message that can be taken. */
export const INVALID_REQUEST = -32600;
/** No server has the method. */
export const METHOD_NOT_FOUND = -32601;
/** The message's params cannot be taken. */
export const INVALID_PARAMS = -32602;
/** A server failed. */
export const INTERNAL_ERROR = -32603;

/** The error member of a response. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A request line. */
export function requestLine(id: RpcId, method: string, params: unknown): Buffer {
  return lineOf({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
}

/** A notification line. */
export function notificationLine(method: string, params: unknown): Buffer {
  return lineOf({ jsonrpc: "2.0", method, params });
}

/** A result line. */
export function resultLine(id: RpcId, result: unknown): Buffer {
  return lineOf({ jsonrpc: "2.0", id, result });
}

/** An error line; `null` where the id could not be read. */
export function errorLine(id: RpcId | undefined, error: RpcError): Buffer {
  return lineOf({ jsonrpc: "2.0", id: id ?? null, error });
}

/** Tells a server that nobody waits for an answer any more. */
export function recalled(requestId: RpcId): Buffer {
  return notificationLine("notifications/cancelled", { requestId, reason: "it took too long" });
}

function lineOf(message: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(message)}\n`);
}

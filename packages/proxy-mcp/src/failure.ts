/**
 * Failures of a server, as the client hears of them.
 */
import { INTERNAL_ERROR } from "./rpc.js";
import type { RpcError } from "./rpc.js";

/** Why a server does not answer any more. */
export interface ServerFailure {
  readonly server: string;
  /** One sentence without a period: `Server "fs" exited with code 1`. */
  readonly reason: string;
  /** When it may answer again, in milliseconds, where it comes back. */
  readonly retryAfterMs?: number;
}

/** A server's failure, thrown to whoever waits for its answer. */
export class ServerFailedError extends Error {
  override readonly name = "ServerFailedError";
  readonly failure: ServerFailure;
  /** Whether the server had the request. */
  readonly isSent: boolean;

  constructor(failure: ServerFailure, isSent: boolean = false) {
    super(failure.reason);
    this.failure = failure;
    this.isSent = isSent;
  }
}

/** The client took back a call, or is gone. */
export class CallCancelledError extends Error {
  override readonly name = "CallCancelledError";
}

/** A call's server took too long for it. */
export class CallTimedOutError extends Error {
  override readonly name = "CallTimedOutError";
}

/** An error that a request is answered with. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly error: RpcError;

  constructor(error: RpcError) {
    super(error.message);
    this.error = error;
  }
}

/** The error of a request that a failed server leaves unanswered. */
export function failureError({ server, reason, retryAfterMs }: ServerFailure): RpcError {
  const again = retryAfterMs === undefined ? {} : { retryable: true, retryAfterMs };
  const data = { code: "server_unavailable", server, ...again };
  return { code: INTERNAL_ERROR, message: reason, data };
}

/** The error of a request that the server had when it failed. */
export function lostError(failure: ServerFailure): RpcError {
  const { message, ...rest } = failureError(failure);
  return { ...rest, message: `${message}; whether the request took effect is not known` };
}

/** The error of an answer that readers may read differently. */
export function unreadableAnswer(server: string): RpcError {
  const message = `Server "${server}" answered with a message that readers may read differently`;
  return { code: INTERNAL_ERROR, message, data: { code: "answer_unreadable", server } };
}

/** The error member for whatever was thrown while a request was served. */
export function errorOf(thrown: unknown): RpcError {
  if (thrown instanceof RequestError) return thrown.error;
  if (thrown instanceof ServerFailedError)
    return thrown.isSent ? lostError(thrown.failure) : failureError(thrown.failure);
  return { code: INTERNAL_ERROR, message: "Cannot serve the request: the proxy failed" };
}

/**
 * Refusals: every no that the proxy itself says, and the gate's, as one status and one JSON body that an agent can act on. Format: spec/http-proxy.md.
 */
import type { DenyCode } from "@acp/core";

/** Why the proxy says no by itself. Codes are stable. */
export type ProxyRefusalCode =
  /** The request can be read in two ways, or breaks a limit: 400. */
  | "request_invalid"
  /** Which agent asks is not known: 407. */
  | "agent_unknown"
  /** The host may not be reached: 403. */
  | "address_refused"
  /** The host cannot be reached: 502. */
  | "upstream_unreachable"
  /** The host's answer cannot be forwarded: 502. */
  | "upstream_invalid"
  /** The host took too long: 504. */
  | "upstream_timeout"
  /** More at once than the proxy takes: 503. */
  | "overloaded"
  /** The proxy is closing: 503. */
  | "closing";

/** One no. */
export interface Refusal {
  readonly status: number;
  readonly code: ProxyRefusalCode | DenyCode;
  readonly reason: string;
  readonly remedy: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly requestId?: string;
  readonly ruleId?: string;
}

/** Thrown between the files of the proxy; never leaves it. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly refusal: Refusal;

  constructor(refusal: Refusal, options?: ErrorOptions) {
    super(refusal.reason, options);
    this.refusal = refusal;
  }
}

/**
 * Refusals: every refusal of the proxy itself or of the gate, as one status and one JSON body that
 * an agent can act on. Format: spec/http-proxy.md §7.
 */
import { type ServerResponse, STATUS_CODES } from "node:http";
import { DENY_CODES, type Denied, type DenyCode } from "@acp/core";

/** Why the proxy itself refuses a request. The codes are stable. Format: spec/http-proxy.md §7. */
export type ProxyRefusalCode =
  /** The request can be read in two ways, or breaks a limit: 400. */
  | "request_invalid"
  /** Which agent asks is not known: 407. */
  | "agent_unknown"
  /** The host may not be reached: 403. */
  | "address_refused"
  /** The name belongs to the proxy itself, and leads this request nowhere: 403. */
  | "service_refused"
  /** The host cannot be reached: 502. */
  | "upstream_unreachable"
  /** The host's answer cannot be forwarded: 502. */
  | "upstream_invalid"
  /** The host took too long: 504. */
  | "upstream_timeout"
  /** More at once than the proxy takes: 503. */
  | "overloaded"
  /** The proxy is closing: 503. */
  | "closing"
  /** The gate's key is locked, so nothing is decided: 503. */
  | "key_locked"
  /** The index of the audit logs is being made, so nothing is decided: 503. */
  | "index_rebuilding";

/** Why a request was refused, as the client reads it. Format: spec/http-proxy.md §7. */
export interface Refusal {
  /** HTTP status of the answer. */
  readonly status: number;
  /** Stable code: the proxy's, or the gate's deny code. */
  readonly code: ProxyRefusalCode | DenyCode;
  /** Why, in one line for people. */
  readonly reason: string;
  /** What the agent or its operator can do. */
  readonly remedy: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Milliseconds to wait before a retry, if known. */
  readonly retryAfterMs?: number;
  /** ID of the question, if there was one. */
  readonly requestId?: string;
  /** ID of the policy's rule, if one decided. */
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

type Row = Pick<Refusal, "status" | "remedy" | "retryable">;

const PROXY_ROWS: Readonly<Record<ProxyRefusalCode, Row>> = {
  request_invalid: {
    status: 400,
    remedy: "Send a request that can be read in only one way, within the limits of the proxy",
    retryable: false,
  },
  agent_unknown: {
    status: 407,
    remedy:
      "Put the username and token of the agent into the URL of the proxy; the operator has them",
    retryable: false,
  },
  address_refused: {
    status: 403,
    remedy: "Choose another host",
    retryable: false,
  },
  service_refused: {
    status: 403,
    remedy:
      "Inside a sandbox start acp-mcp-bridge as the MCP server; names under acp.internal lead nowhere else",
    retryable: false,
  },
  upstream_unreachable: {
    status: 502,
    remedy: "Check the host and the port, or try again later",
    retryable: true,
  },
  upstream_invalid: {
    status: 502,
    remedy: "Do not repeat the request as it is; the host answers in a way that is not forwarded",
    retryable: false,
  },
  upstream_timeout: { status: 504, remedy: "Try again later", retryable: true },
  overloaded: {
    status: 503,
    remedy: "Wait for requests under way to end, then try again",
    retryable: true,
  },
  closing: { status: 503, remedy: "Try again after the restart", retryable: true },
  key_locked: {
    status: 503,
    remedy: "A person has to open the key with acp unlock; then try again",
    retryable: true,
  },
  index_rebuilding: { status: 503, remedy: "Try again later", retryable: true },
};

const DENIED_STATUS = 403;

/**
 * Codes whose reason is written for whoever asked: by a rule, a person or the gate. Any other is
 * the text of a part that failed, which may name files of the operator; the agent reads what the
 * code means instead, and the log has the rest.
 */
const TOLD: ReadonlySet<DenyCode> = new Set<DenyCode>([
  "policy_denied",
  "rate_limited",
  "consent_denied",
  "consent_expired",
  "consent_cancelled",
  "consent_deferred",
  "paused",
  "agent_paused",
  "no_approver",
  "evidence_unavailable",
  "not_performable",
  "too_many_pending",
  "too_many_questions",
  "client_limit_reached",
  "action_too_large",
]);

/** A no of the proxy's own. */
export function makeRefusal(code: ProxyRefusalCode, reason: string): Refusal {
  const { status, remedy, retryable } = PROXY_ROWS[code];
  return { status, code, reason, remedy, retryable };
}

/** A no of the proxy's own, to throw. */
export function refused(
  code: ProxyRefusalCode,
  reason: string,
  options?: ErrorOptions,
): RefusedError {
  return new RefusedError(makeRefusal(code, reason), options);
}

/** The gate's no, as the agent is told. */
export function refusalOfDenied({
  code,
  reason,
  remedy,
  retryable,
  retryAfterMs,
  requestId,
  ruleId,
}: Denied): Refusal {
  return {
    status: DENIED_STATUS,
    code,
    reason: TOLD.has(code) ? reason : DENY_CODES[code].meaning.replace(/\.$/, ""),
    remedy,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(ruleId === undefined ? {} : { ruleId }),
  };
}

/** A no with one of the gate's codes that the proxy says itself. */
export function makeDenial(code: DenyCode, reason: string): Refusal {
  const { remedy, retryable } = DENY_CODES[code];
  return { status: DENIED_STATUS, code, reason, remedy, retryable };
}

/** The answer's body: `{"error":{…}}` and a line break. */
export function refusalBody({
  code,
  reason,
  remedy,
  retryable,
  retryAfterMs,
  requestId,
  ruleId,
}: Refusal): string {
  return `${JSON.stringify({ error: { code, reason, remedy, retryable, retryAfterMs, requestId, ruleId } })}\n`;
}

/**
 * Error types of RFC 9209 §2.3, for those who see only headers, as a client does of a refused
 * CONNECT.
 */
const STATUS_TYPES: Readonly<Record<ProxyRefusalCode, string>> = {
  request_invalid: "http_request_error",
  agent_unknown: "http_request_denied",
  address_refused: "destination_ip_prohibited",
  service_refused: "http_request_denied",
  upstream_unreachable: "destination_unavailable",
  upstream_invalid: "http_protocol_error",
  upstream_timeout: "connection_timeout",
  overloaded: "proxy_internal_error",
  closing: "proxy_internal_error",
  key_locked: "proxy_internal_error",
  index_rebuilding: "proxy_internal_error",
};

const isOwnCode = (code: Refusal["code"]): code is ProxyRefusalCode =>
  Object.hasOwn(PROXY_ROWS, code);

function headersOf(
  { status, code, retryAfterMs }: Refusal,
  body: string,
): Readonly<Record<string, string>> {
  return {
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    "cache-control": "no-store",
    "proxy-status": `acp; error=${isOwnCode(code) ? STATUS_TYPES[code] : "http_request_denied"}; details="${code}"`,
    ...(status === 407 ? { "proxy-authenticate": 'Basic realm="acp", charset="UTF-8"' } : {}),
    ...(retryAfterMs === undefined
      ? {}
      : { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) }),
  };
}

/**
 * Whether more of the request's body may come: it would have to be read to its end before the
 * connection could serve again.
 */
function hasMoreToRead({ req }: ServerResponse): boolean {
  const { "transfer-encoding": coding, "content-length": length } = req.headers;
  return !req.complete && (coding !== undefined || (length !== undefined && length !== "0"));
}

/**
 * Answers a parsed request with a no. Where its head was sent already, there is only one way left
 * to say so: the connection ends.
 */
export function sendRefusal(response: ServerResponse, refusal: Refusal): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = refusalBody(refusal);
  if (hasMoreToRead(response)) response.shouldKeepAlive = false;
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.writeHead(refusal.status, headersOf(refusal, body));
  response.end(body);
}

/**
 * The whole answer, for a socket that nobody parses any more, e.g. after CONNECT. The connection
 * ends with it.
 */
export function refusalBytes(refusal: Refusal): Buffer {
  const body = refusalBody(refusal);
  const headers = Object.entries({ ...headersOf(refusal, body), connection: "close" }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.from(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? "Refused"}\r\n${headers.join("")}\r\n${body}`,
  );
}

/**
 * Limits: every size, count and time bound of the proxy, with its unit and reason.
 */

/** Bounds that whoever starts a proxy may set otherwise. */
export interface ProxyLimits {
  /** Bytes of the head of a request or an answer, and of its trailers; Node's own default, and more than common servers take. */
  readonly headBytesMax: number;
  /** Header lines of one message; Node drops those beyond a count of its own without a word, so that ours refuses. */
  readonly headersMax: number;
  /** Connections of agents at once; with as many to hosts they stay within the usual hard limit of open files. */
  readonly connectionsMax: number;
  /** Requests under way on one connection; more than this nobody pipelines, and each may become a question. */
  readonly pipelinedMax: number;
  /** How long a connection may be without a whole request head: slow heads and idle connections alike. */
  readonly headMs: number;
  /** How long looking a host up and connecting to one of its addresses may take together; people who wait give up about then. */
  readonly connectMs: number;
  /** How long an allowed request may pass no byte in either direction; a model's answer may take minutes to begin. */
  readonly idleMs: number;
  /** Kept connections to hosts, all together; beyond it a connection ends with its answer. */
  readonly keptMax: number;
  /** How long a kept connection waits for its next request; less than servers wait, so that few are closed under a request. */
  readonly keptMs: number;
  /** How long a tunnel may pass no byte; longer than the pings of long-lived protocols. */
  readonly tunnelIdleMs: number;
  /** How long a tunnel may live: a consent is for a piece of work, not for ever. */
  readonly tunnelTotalMs: number;
  /** Bytes of the first TLS message with its records; with post-quantum keys and tickets it has a few thousand. */
  readonly helloBytesMax: number;
  /** Bytes that a tunnel's client may send ahead while the tunnel is decided; the rest waits in its socket. */
  readonly aheadBytesMax: number;
  /** How long nothing may reach a client that half-closed its connection: most who do are gone, and nothing else would show it. */
  readonly halfClosedMs: number;
  /** How long, and below how many bytes, the body of a refused request is read: many clients write all of it before they read. */
  readonly lingerMs: number;
  readonly lingerBytesMax: number;
  /** How often the times above are looked at: their precision. */
  readonly sweepEveryMs: number;
}

const SECOND_MS = 1_000;
const MINUTE_MS: number = 60 * SECOND_MS;
const HOUR_MS: number = 60 * MINUTE_MS;
const KIB = 1_024;

/** The bounds unless others are given. */
export const LIMITS: ProxyLimits = {
  headBytesMax: 16 * KIB,
  headersMax: 256,
  connectionsMax: 4_096,
  pipelinedMax: 16,
  headMs: 30 * SECOND_MS,
  connectMs: 10 * SECOND_MS,
  idleMs: 5 * MINUTE_MS,
  keptMax: 512,
  keptMs: 4 * SECOND_MS,
  tunnelIdleMs: 10 * MINUTE_MS,
  tunnelTotalMs: 12 * HOUR_MS,
  helloBytesMax: 32 * KIB,
  aheadBytesMax: 64 * KIB,
  halfClosedMs: 5 * SECOND_MS,
  lingerMs: 2 * SECOND_MS,
  lingerBytesMax: 1_024 * KIB,
  sweepEveryMs: SECOND_MS,
};

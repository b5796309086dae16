/**
 * Limits: every size, count and time bound of the proxy, with its unit and reason.
 */

/** Limits of a proxy that you can change. Rules: spec/http-proxy.md §10. */
export interface ProxyLimits {
  /**
   * Bytes in the head of a request or an answer, and in its trailers. Default: 16 KiB, which is
   * Node's own and more than common servers accept.
   */
  readonly headBytesMax: number;
  /**
   * Header lines in one message. Default: 256. Node silently drops lines beyond a limit of its own,
   * so this one refuses first.
   */
  readonly headersMax: number;
  /**
   * Simultaneous connections of agents. Default: 4,096. With as many connections to hosts, this
   * stays within the usual hard limit of open files.
   */
  readonly connectionsMax: number;
  /**
   * Unanswered requests on one connection. Default: 16. Clients pipeline no more, and each may
   * become a question.
   */
  readonly pipelinedMax: number;
  /**
   * Milliseconds that a connection may take to send a complete request head, idle time included.
   * Default: 30,000.
   */
  readonly headMs: number;
  /**
   * Milliseconds for resolving a host and connecting to it. Default: 10,000, about when people give
   * up waiting.
   */
  readonly connectMs: number;
  /**
   * Milliseconds that an allowed request may pass no byte in either direction. Default: 300,000,
   * because a model may take minutes to start its answer.
   */
  readonly idleMs: number;
  /**
   * Idle connections to hosts that are kept for reuse, in total. Default: 512. Beyond that, a
   * connection ends with its answer.
   */
  readonly keptMax: number;
  /**
   * Milliseconds that a kept connection waits for its next request. Default: 4,000, less than
   * servers wait, so that they rarely close one that is about to be used.
   */
  readonly keptMs: number;
  /**
   * Milliseconds that a tunnel may pass no byte. Default: 600,000, longer than long-lived protocols
   * wait between pings.
   */
  readonly tunnelIdleMs: number;
  /**
   * Milliseconds that a tunnel may stay open. Default: 12 hours. A consent is for a piece of work,
   * not forever.
   */
  readonly tunnelTotalMs: number;
  /**
   * Bytes in the first TLS message with its records. Default: 32 KiB; with post-quantum keys and
   * tickets a few thousand are usual.
   */
  readonly helloBytesMax: number;
  /**
   * Bytes that a client may send into a tunnel before the decision. Default: 64 KiB. The rest waits
   * in its socket.
   */
  readonly aheadBytesMax: number;
  /**
   * Milliseconds that a client that half-closed its connection may receive nothing. Default: 5,000.
   * Most such clients are gone, and nothing else would show it.
   */
  readonly halfClosedMs: number;
  /**
   * Milliseconds for which the body of a refused request is still read, because many clients send
   * all of it before they read the answer. Default: 2,000.
   */
  readonly lingerMs: number;
  /** Bytes of such a body that are read at most. Default: 1 MiB. */
  readonly lingerBytesMax: number;
  /** Milliseconds between checks of the times above, and so their precision. Default: 1,000. */
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

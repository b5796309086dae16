/**
 * Send: brings one message to the receiver, however often that takes. Every attempt has the same id
 * and a time and signature of its own.
 */
import { type Clock, ConsentError, asError, isConsentError } from "@acp/core";
import type { Post, Reply } from "./post.js";
import { isWorthRetrying, readRetryAfter, retryDelayMs } from "./retry.js";
import { signWith } from "./signature.js";
import { type Resolve, type Target, addressesOf } from "./target.js";

/** A message, whole. */
export interface OutgoingMessage {
  readonly id: string;
  readonly body: Uint8Array;
}

/** What sending needs. */
export interface SendParts {
  readonly target: Target;
  readonly keys: readonly Uint8Array[];
  readonly post: Post;
  readonly resolve: Resolve;
  /** How long one attempt may take, from resolving the name to the last byte of the reply. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
}

/** How long a message is worth sending. */
export interface SendTerms {
  /** Aborting ends it, also in the middle of an attempt. */
  readonly signal: AbortSignal;
  /** Aborting ends it between two attempts; the same as `signal` unless given. */
  readonly patience?: AbortSignal;
  /** Attempts in all; no limit unless given. */
  readonly attemptsMax?: number;
  /** Told before anything leaves for the receiver. */
  readonly onAttempt?: () => void;
}

/** Delivers one message: resolves with the 2xx reply. */
export type Send = (message: OutgoingMessage, terms: SendTerms) => Promise<Reply>;

/** Runs work with a signal that aborts after a time, or with its parent. */
async function withinTime<T>(
  { clock, timeoutMs }: SendParts,
  parent: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const trying = new AbortController();
  const done = new AbortController();
  const follow = (): void => trying.abort(parent.reason);
  if (parent.aborted) follow();
  parent.addEventListener("abort", follow, { once: true });
  const late = (): void => trying.abort(new Error(`no complete answer within ${timeoutMs} ms`));
  clock.sleep(timeoutMs, { signal: done.signal, background: true }).then(late, () => undefined);
  try {
    return await work(trying.signal);
  } catch (error) {
    throw trying.signal.aborted ? asError(trying.signal.reason) : error;
  } finally {
    parent.removeEventListener("abort", follow);
    done.abort();
  }
}

/**
 * The code of a socket's or resolver's error, or its text where it has none: never what the
 * receiver sent.
 */
function describe(error: unknown): string {
  const given = asError(error);
  return "code" in given && typeof given.code === "string" ? given.code : given.message;
}

/** Why an attempt failed, where another one may not. */
interface Failure {
  readonly why: string;
  readonly retryAfterMs: number;
}

async function attempt(
  parts: SendParts,
  { id, body }: OutgoingMessage,
  { signal, onAttempt }: SendTerms,
): Promise<Reply | Failure> {
  const { target, clock } = parts;
  try {
    const reply = await withinTime(parts, signal, async (within) => {
      const addresses = await addressesOf(target, parts.resolve, within);
      onAttempt?.();
      const headers = signWith(parts.keys, { id, timestampMs: clock.now(), body });
      return parts.post({ headers, body, addresses, signal: within });
    });
    if (reply.status >= 200 && reply.status <= 299) return reply;
    const why = `the receiver answered ${reply.status}`;
    if (isWorthRetrying(reply.status))
      return { why, retryAfterMs: readRetryAfter(reply.headers["retry-after"], clock.now()) };
    throw new ConsentError("channel_failed", `Cannot deliver to host "${target.host}": ${why}`);
  } catch (error) {
    if (signal.aborted || isConsentError(error)) throw error;
    return { why: describe(error), retryAfterMs: 0 };
  }
}

/**
 * Makes the sender for one target. Its promise rejects with ConsentError `channel_failed`, or with
 * the signal's reason.
 */
export function createSend(parts: SendParts): Send {
  const { clock, target, warn } = parts;
  return async (message, terms) => {
    const { signal, patience = signal, attemptsMax = Number.POSITIVE_INFINITY } = terms;
    for (let failed = 1; ; failed++) {
      signal.throwIfAborted();
      const result = await attempt(parts, message, terms);
      if ("status" in result) return result;
      const isLast = failed >= attemptsMax;
      warn(
        `Cannot deliver to host "${target.host}" (attempt ${failed}${isLast ? ", the last" : ""}): ${result.why}`,
      );
      if (isLast)
        throw new ConsentError(
          "channel_failed",
          `Cannot deliver to host "${target.host}": ${failed} attempts failed, ${result.why}`,
        );
      await clock.sleep(retryDelayMs(failed, result.retryAfterMs, Math.random()), {
        signal: patience,
        background: true,
      });
    }
  };
}

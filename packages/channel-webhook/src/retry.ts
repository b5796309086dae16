/**
 * Retry: how long to wait before a message is sent again, and what is worth it.
 */

/** Waits before the second, third, … attempt; the last one repeats. */
const DELAYS_MS: readonly number[] = [5_000, 30_000, 120_000, 300_000, 900_000];
/**
 * How far a wait may be from its plan, so that messages that failed together do not come back
 * together.
 */
const JITTER = 0.2;

const SECONDS = /^[0-9]{1,9}$/;

/**
 * Whether a receiver that said this may say something else later. Redirects and other refusals
 * stand.
 */
export function isWorthRetrying(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/**
 * Milliseconds that a Retry-After header asks for, as seconds or as an HTTP date; 0 where it asks
 * for nothing that can be read.
 */
export function readRetryAfter(header: string | undefined, nowMs: number): number {
  if (header === undefined) return 0;
  if (SECONDS.test(header)) return Number(header) * 1000;
  const atMs = header.endsWith(" GMT") ? Date.parse(header) : Number.NaN;
  return Number.isFinite(atMs) ? Math.max(0, atMs - nowMs) : 0;
}

/**
 * How long to wait after so many failed attempts.
 *
 * @param random - From 0 to 1.
 */
export function retryDelayMs(failedAttempts: number, retryAfterMs: number, random: number): number {
  const plannedMs = DELAYS_MS[Math.min(failedAttempts, DELAYS_MS.length) - 1] ?? 0;
  return Math.max(Math.round(plannedMs * (1 - JITTER + 2 * JITTER * random)), retryAfterMs);
}

/**
 * Shared renewal: whoever needs the same token renewed, in one process, waits for the same renewal
 * and gets its outcome. What failed is not tried again for a while. Format: spec/mcp-proxy.md §19.
 */
import { systemClock } from "@acp/core";
import type { Grant } from "@acp/proxy-mcp/oauth";

/** One that failed is not tried again for so long: the failure is the answer meanwhile. */
const FAILED_MS = 30_000;

const underWay = new Map<string, Promise<Grant>>();
const failed = new Map<string, { readonly error: unknown; readonly atMs: number }>();

/**
 * Renews, unless that is under way or failed lately.
 *
 * @param key - Of the home, the server and the token.
 * @param signal - Of who renews. Those who wait try themselves where that one was stopped.
 */
export async function sharedRenewal(
  key: string,
  signal: AbortSignal,
  renew: () => Promise<Grant>,
): Promise<Grant> {
  for (let other = underWay.get(key); other !== undefined; other = underWay.get(key)) {
    const grant = await other.catch(() => undefined);
    if (grant !== undefined) return grant;
    if (failed.has(key) || signal.aborted) break;
  }
  for (const [each, { atMs }] of failed)
    if (systemClock.monotonic() - atMs > FAILED_MS) failed.delete(each);
  const before = failed.get(key);
  if (before !== undefined) throw before.error;
  const own = renew();
  underWay.set(key, own);
  try {
    return await own;
  } catch (error) {
    if (!signal.aborted) failed.set(key, { error, atMs: systemClock.monotonic() });
    throw error;
  } finally {
    underWay.delete(key);
  }
}

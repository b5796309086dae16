/** Host approval: how long an approval of a request may also cover its host (ACP v0.3 §5.5). */
import { ConsentError } from "@acp/core";

const DEFAULT_SEC = 180;
/** A grant lives a day at most. */
const SEC_MAX = 86_400;
const SECONDS = /^(?:0|[1-9]\d{0,4})$/;

/**
 * Reads the value of `ACP_HTTP_HOST_APPROVAL_TTL_SEC`, for `offerHost(ttlMs)` as a gate's
 * `defaultOffers`. Format: spec/http-proxy.md §6.
 *
 * @param text - Whole seconds, at most 86,400 (a day). With `"0"`, an approval covers only its
 * request. `undefined` means 180.
 * @returns Milliseconds.
 * @throws ConsentError `options_invalid`.
 */
export function hostApprovalTtlMs(text: string | undefined): number {
  const seconds = text === undefined ? DEFAULT_SEC : SECONDS.test(text) ? Number(text) : Number.NaN;
  if (seconds >= 0 && seconds <= SEC_MAX) return seconds * 1_000;
  throw new ConsentError(
    "options_invalid",
    `Cannot read the time of host approvals ${JSON.stringify(text?.slice(0, 80))}: it is not a whole number of seconds from 0 to ${SEC_MAX}`,
  );
}

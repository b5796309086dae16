/**
 * Performing what was allowed: redeem, inject, record, perform once, record, mask.
 */
import { deny, messageOf } from "./deny.js";
import { isConsentError } from "../errors.js";
import type { JsonObject } from "../json/value.js";
import type { GateParts } from "./parts.js";
import { eventsOf, isAbandoned, type Release, redeemFor } from "../permit.js";
import type { Allowed, Denied, RunResult } from "../verdict.js";

/** What is performed, and until when its caller waits. */
export interface Performance<T> {
  readonly perform: (release: Release) => Promise<T>;
  readonly signal?: AbortSignal | undefined;
}

function refusedPermit(error: unknown): Denied {
  return deny(isConsentError(error, "permit_denied") ? "policy_denied" : "permit_refused", messageOf(error));
}

/** Spends the permit, injects secrets and records what is about to happen; nothing happened yet where this is a Denied. */
async function prepare(parts: GateParts, verdict: Allowed, signal: AbortSignal | undefined): Promise<Release | Denied> {
  const { permit, action, requestId } = verdict;
  const detail = requestId === undefined ? {} : { requestId };
  let release: Release;
  try {
    release = redeemFor(permit, action, signal);
  } catch (error) {
    return refusedPermit(error);
  }
  const event = eventsOf(permit);
  const injected = release.secrets.map((name) => event("credential_injected", "allow", { secret: name }));
  try {
    if (parts.vault !== undefined && release.secrets.length > 0) release = await parts.within(parts.vault.inject(release), "the vault");
  } catch (error) {
    return deny("vault_failed", messageOf(error), detail);
  }
  try {
    const forwarded = event("tool_call_forwarded", "allow", requestId === undefined ? {} : { approvers: verdict.approvers ?? [] });
    await parts.append(parts.vault === undefined ? [forwarded] : [...injected, forwarded]);
  } catch (error) {
    return deny("audit_failed", messageOf(error), detail);
  }
  // The caller may have gone while the log was written; the log then says forwarded, and completed says that it was not.
  return release;
}

async function complete(parts: GateParts, verdict: Allowed, metadata: JsonObject): Promise<boolean> {
  try {
    await parts.append([eventsOf(verdict.permit)("tool_call_completed", "allow", metadata)]);
    return true;
  } catch {
    return false;
  }
}

/**
 * Performs an allowed action once.
 *
 * @throws What `perform` throws, after its failure is recorded.
 */
export async function performOnce<T>(parts: GateParts, verdict: Allowed, { perform, signal }: Performance<T>): Promise<RunResult<T>> {
  const release = await prepare(parts, verdict, signal);
  if ("decision" in release) return { ran: false, verdict: release };
  if (isAbandoned(verdict.permit, signal)) {
    await complete(parts, verdict, { outcome: "not_performed" });
    return { ran: false, verdict: deny("consent_cancelled", "the caller went away") };
  }
  let value: T;
  try {
    value = await perform(release);
  } catch (error) {
    // The text of an error may hold what the action returned; only its kind is kept.
    await complete(parts, verdict, { outcome: "failed", error: error instanceof Error ? error.name : typeof error });
    throw error;
  }
  const recorded = await complete(parts, verdict, { outcome: "performed" });
  return { ran: true, value: release.mask(value), verdict, recorded };
}

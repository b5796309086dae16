/**
 * Performing what was allowed: redeem, inject, record, perform once, record, mask.
 */
import { deny, messageOf } from "./deny.js";
import { ConsentError, isConsentError } from "../errors.js";
import type { JsonObject } from "../json/value.js";
import type { GateParts } from "./parts.js";
import { eventsOf, isAbandoned, isInjectedFrom, type Release, redeemFor, whyLeaseOver } from "../permit.js";
import type { AuditReceipt } from "../ports.js";
import { hasPlaceholder } from "../vault/placeholders.js";
import type { Allowed, Denied, RunResult } from "../verdict.js";

/** What is performed, and until when its caller waits. */
export interface Performance<T> {
  readonly perform: (release: Release) => Promise<T>;
  readonly signal?: AbortSignal | undefined;
}

const VAULT_REASON = "the vault could not put in what the action names";

function refusedPermit(error: unknown): Denied {
  return deny(isConsentError(error, "permit_denied") ? "policy_denied" : "permit_refused", messageOf(error));
}

/** Puts the secrets in. What a vault hands back counts only where `injectSecrets` made it of this very release. */
async function inject(parts: GateParts, release: Release): Promise<Release> {
  if (parts.vault === undefined) return release;
  const injected = await parts.within(parts.vault.inject(release), "the vault");
  if (isInjectedFrom(injected, release)) return injected;
  // A vault that does nothing is no way for a placeholder to go out unfilled.
  if (injected === release && !hasPlaceholder(release.action)) return release;
  throw new ConsentError("secret_refused", "Cannot use what the vault gave: it is not this release with its secrets");
}

/** What may be performed now, and where the log says so. */
interface Prepared {
  readonly release: Release;
  /** Names the forwarded event to the completed one; empty where the sink gives no number. */
  readonly forwarded: JsonObject;
}

/** Spends the permit, injects secrets and records what is about to happen; nothing happened yet where this is a Denied. */
async function prepare(parts: GateParts, verdict: Allowed, signal: AbortSignal | undefined): Promise<Prepared | Denied> {
  const { permit, action, requestId } = verdict;
  const detail = requestId === undefined ? {} : { requestId };
  const event = eventsOf(permit);
  let redeemed: Release;
  try {
    const over = await whyLeaseOver(permit);
    if (over !== undefined) return deny("permit_refused", over, detail);
    redeemed = redeemFor(permit, action, signal);
  } catch (error) {
    return refusedPermit(error);
  }
  let release: Release;
  try {
    release = await inject(parts, redeemed);
  } catch (error) {
    await complete(parts, verdict, { outcome: "not_performed", error: isConsentError(error) ? error.code : "vault_failed" });
    // The agent learns nothing about what the vault holds; whoever runs it reads the log.
    return deny("vault_failed", VAULT_REASON, detail);
  }
  try {
    const names = release === redeemed ? [] : release.secrets;
    const injected = names.map((name) => event("credential_injected", "allow", { secret: name }));
    const forwarded = event("tool_call_forwarded", "allow", requestId === undefined ? {} : { approvers: verdict.approvers ?? [] });
    // The caller may have gone while the log is written; the log then says forwarded, and completed says that it was not.
    return { release, forwarded: numberOf(await parts.append([...injected, forwarded])) };
  } catch (error) {
    return deny("audit_failed", messageOf(error), detail);
  }
}

/** A receipt has the number of the last event of its batch. A sink may be JavaScript and give none. */
function numberOf(receipt: AuditReceipt | undefined): JsonObject {
  const seq = receipt?.seq;
  return Number.isSafeInteger(seq) && seq !== undefined ? { forwarded_seq: seq } : {};
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
  const prepared = await prepare(parts, verdict, signal);
  if ("decision" in prepared) return { ran: false, verdict: prepared };
  const { release, forwarded } = prepared;
  if (isAbandoned(verdict.permit, signal)) {
    await complete(parts, verdict, { outcome: "not_performed", ...forwarded });
    return { ran: false, verdict: deny("consent_cancelled", "the caller went away") };
  }
  let value: T;
  try {
    value = await perform(release);
  } catch (error) {
    // The text of an error may hold what the action returned; only its kind is kept.
    await complete(parts, verdict, { outcome: "failed", error: error instanceof Error ? error.name : typeof error, ...forwarded });
    throw release.mask(error);
  }
  const recorded = await complete(parts, verdict, { outcome: "performed", ...forwarded });
  return { ran: true, value: release.mask(value), verdict, recorded };
}

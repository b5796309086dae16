/**
 * Performing what was allowed: redeem, inject, record, perform once, record, mask. What is
 * performed and recorded is what the gate knows of the permit; of the verdict that comes with it
 * nothing counts but the permit.
 */
import type { Performance } from "./consent-gate.js";
import { deny, messageOf } from "./deny.js";
import { ConsentError, isConsentError } from "../errors.js";
import { type Followed, followStream } from "./follow-stream.js";
import type { JsonObject } from "../json/value.js";
import { makeConsentOutcome } from "../approval/consent-outcome.js";
import { failureOf, recordForwarded, recordOutcome, recordUnused } from "./outcome.js";
import type { PerformParts, PermitParts, TimeParts } from "./gate-parts.js";
import type { Outcome } from "./reports.js";
import type { Permit, Release } from "../types/permit.js";
import {
  isAbandoned,
  isInjectedFrom,
  type Issued,
  issuedBy,
  redeemFor,
  tell,
  whyLeaseOver,
} from "../permit.js";
import type { AppendTerms, Vault } from "../ports.js";
import { hasPlaceholder } from "../vault/placeholders.js";
import type { Allowed, Denied, RunResult } from "../verdict.js";

const GONE = "the caller went away";
const VAULT_REASON = "the vault could not put in what the action names";

function refusedPermit(error: unknown): Denied {
  return deny(
    isConsentError(error, "permit_denied") ? "policy_denied" : "permit_refused",
    messageOf(error),
  );
}

/**
 * Puts the secrets in. What a vault hands back counts only where `injectSecrets` made it of this
 * very release.
 */
async function inject(
  { within }: Pick<TimeParts, "within">,
  vault: Vault,
  release: Release,
): Promise<Release> {
  const injected = await within(vault.inject(release), "the vault");
  if (isInjectedFrom(injected, release)) return injected;
  // A vault that does nothing is no way for a placeholder to go out unfilled.
  if (injected === release && !hasPlaceholder(release.action)) return release;
  throw new ConsentError(
    "secret_refused",
    "Cannot use what the vault gave: it is not this release with its secrets",
  );
}

/** What may be performed now, and where the log says so. */
interface Prepared {
  readonly permit: Permit;
  readonly issued: Issued;
  readonly release: Release;
  /** Names the forwarded event to the completed one; empty where the sink gives no number. */
  readonly forwarded: JsonObject;
}

/**
 * Spends the permit; where that opens nothing, tells who approved it why.
 *
 * @throws What `redeemFor` throws.
 */
function spend(
  { yeses }: Pick<PermitParts, "yeses">,
  permit: Permit,
  { action, signal }: Spending,
): Release {
  try {
    return redeemFor(permit, action, signal);
  } catch (error) {
    const yes = yeses.get(permit);
    if (isConsentError(error, "permit_expired"))
      yes?.stop({
        outcome: makeConsentOutcome("not_collected", "the permit expired before it was used"),
      });
    if (isConsentError(error, "permit_denied"))
      yes?.stop(
        isAbandoned(permit, signal)
          ? { outcome: makeConsentOutcome("not_collected", GONE) }
          : { outcome: makeConsentOutcome("not_performed", error.message), code: error.code },
      );
    throw error;
  }
}

interface Spending {
  readonly action: Allowed["action"];
  readonly signal: AbortSignal | undefined;
}

/** What a permit gave, and what its gate knows of it. */
type Spent = Pick<Prepared, "permit" | "issued" | "release">;

/** Spends the permit. What it was issued for is in the log then, where that is a no. */
async function redeemNow(
  parts: PerformParts,
  given: Allowed,
  signal: AbortSignal | undefined,
): Promise<Spent | Denied> {
  let issued: Issued | undefined;
  let refused: Denied;
  try {
    // The verdict may be a copy, or an object that answers differently each time.
    const { action, permit } = given;
    issued = issuedBy(parts.identity, permit);
    const asking = whyLeaseOver(permit);
    const over = asking === undefined ? undefined : await asking;
    if (over === undefined) {
      const release = spend(parts, permit, { action, signal });
      tell(permit, "ended");
      return { permit, issued, release };
    }
    refused = deny("permit_refused", over, detailOf(issued));
  } catch (error) {
    refused = refusedPermit(error);
  }
  if (issued !== undefined) await recordUnused(parts, issued);
  return refused;
}

/**
 * Spends the permit, injects secrets and records what is about to happen; nothing happened yet
 * where this is a Denied.
 */
async function prepare(
  parts: PerformParts,
  given: Allowed,
  signal: AbortSignal | undefined,
): Promise<Prepared | Denied> {
  const spent = await redeemNow(parts, given, signal);
  if ("decision" in spent) return spent;
  const { permit, issued, release: redeemed } = spent;
  let release: Release;
  try {
    release = parts.vault === undefined ? redeemed : await inject(parts, parts.vault, redeemed);
  } catch (error) {
    const outcome: Outcome = {
      status: "not_performed",
      error: isConsentError(error) ? error.code : "vault_failed",
    };
    await recordOutcome(parts, issued, { outcome, forwarded: {} });
    // The agent learns nothing about what the vault holds; whoever runs it reads the log.
    return deny("vault_failed", VAULT_REASON, detailOf(issued));
  }
  try {
    const names = release === redeemed ? [] : release.secrets;
    // The caller may have gone while the log is written; the log then says forwarded, and completed
    // says that it was not.
    const forwarded = await recordForwarded(parts, issued, names);
    return { permit, issued: writtenOf(issued), release, forwarded };
  } catch (error) {
    const outcome = makeConsentOutcome(
      "not_performed",
      "the audit log could not keep that it begins",
    );
    parts.yeses.get(permit)?.stop({ outcome, code: "audit_failed" });
    return deny("audit_failed", messageOf(error), detailOf(issued));
  }
}

const NONE: Issued["unwritten"] = [];
/** Nobody waits for it: the caller has its value already. */
const LATER: AppendTerms = { mayWait: true };

/** After what allowed it is written. */
const writtenOf = (issued: Issued): Issued =>
  issued.unwritten.length === 0 ? issued : { ...issued, unwritten: NONE };

const detailOf = ({ verdict: { requestId } }: Issued): { readonly requestId?: string } =>
  requestId === undefined ? {} : { requestId };

/**
 * Performs an allowed action once. Where its value is a stream it ends with the stream. Its end is
 * in the log before the caller hears of it, unless the caller wants to hear of it first.
 *
 * @throws What `perform` throws, after its failure is recorded.
 */
export async function performOnce<T>(
  parts: PerformParts,
  given: Allowed,
  { perform, signal, completesLater = false }: Performance<T>,
): Promise<RunResult<T>> {
  const prepared = await prepare(parts, given, signal);
  if ("decision" in prepared) return { ran: false, verdict: prepared };
  const { permit, issued, release, forwarded } = prepared;
  let ending: Promise<boolean> | undefined;
  const end = (outcome: Outcome, terms?: AppendTerms): Promise<boolean> =>
    (ending ??= recordOutcome(parts, issued, { outcome, forwarded, terms }));
  if (isAbandoned(permit, signal)) {
    await end({ status: "not_performed", error: "consent_cancelled" });
    return { ran: false, verdict: deny("consent_cancelled", GONE) };
  }
  let value: T;
  let stream: Followed<T> | undefined;
  try {
    value = await perform(release);
    // What it gave may be an object that throws when it is looked at: that ends the performance
    // too.
    stream = followStream(value, { release, end });
  } catch (error) {
    await end(failureOf(error));
    throw release.mask(error);
  }
  const { verdict } = issued;
  if (stream !== undefined) {
    const { ended } = stream;
    return { ran: true, value: stream.value, verdict, recorded: false, completed: ended, ended };
  }
  const completed = end({ status: "performed" }, completesLater ? LATER : undefined);
  const recorded = completesLater ? false : await completed;
  return { ran: true, value: release.mask(value), verdict, recorded, completed };
}

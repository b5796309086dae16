/**
 * Reporting: how the log learns what became of an action that a host performs by itself, with a
 * permit that it redeemed by hand. What it says is the host's word, and is marked as such.
 */
import { asError, ConsentError } from "../errors.js";
import type { JsonObject } from "../json/value.js";
import { readOutcome, recordForwarded, recordOutcome } from "./outcome.js";
import type { LogParts, PermitParts } from "./gate-parts.js";
import type { ReportedOutcome } from "./reports.js";
import type { Permit } from "../types/permit.js";
import { isReleased, issuedBy, tell } from "../permit.js";
import type { Allowed } from "../verdict.js";

/** What names the forwarded event of a permit whose host reported one. */
const forwards = new WeakMap<Permit, Promise<JsonObject>>();

/**
 * Takes a host's report: `forwarded` before it performs, if it likes, and once how that ended.
 *
 * @throws ConsentError `permit_unknown` for anything but a verdict of this very gate (a copy of one
 *   is none), `permit_other_gate`, `permit_unspent` where the permit was not redeemed,
 *   `permit_reported` for a second report, `options_invalid` for an outcome that is none, and
 *   `audit_failed` where the log cannot keep it; it is not taken again then.
 */
export async function reportOutcome(
  parts: LogParts & PermitParts,
  verdict: Allowed,
  outcome: ReportedOutcome,
): Promise<void> {
  const said = readOutcome(outcome);
  const permit = permitOf(verdict);
  const issued = issuedBy(parts.identity, permit);
  if (issued.verdict !== verdict)
    throw new ConsentError(
      "permit_unknown",
      "Cannot report the outcome: the verdict is a copy; pass the one that the gate returned",
    );
  if (!isReleased(permit))
    throw new ConsentError(
      "permit_unspent",
      "Cannot report the outcome: the verdict's permit was not redeemed, so nothing may have been performed",
    );
  const before = tell(permit, said.status === "forwarded" ? "forwarded" : "ended");
  if (before === "ended" || (before === "forwarded" && said.status === "forwarded"))
    throw new ConsentError(
      "permit_reported",
      "Cannot report the outcome: it is in the log already",
    );
  const forwarding = forwards.get(permit) ?? recordForwarded(parts, issued);
  forwards.set(permit, forwarding);
  let forwarded: JsonObject;
  try {
    forwarded = await forwarding;
  } catch (error) {
    throw failed(asError(error).message, error);
  }
  if (said.status === "forwarded") return;
  if (!(await recordOutcome(parts, issued, { outcome: said, forwarded, reported: true })))
    throw failed("the log could not keep it");
}

function permitOf(verdict: unknown): Permit {
  const permit: unknown =
    typeof verdict === "object" && verdict !== null && "permit" in verdict
      ? verdict.permit
      : undefined;
  // Whether it is one is for the module of permits to say.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return permit as Permit;
}

const failed = (why: string, cause?: unknown): ConsentError =>
  new ConsentError("audit_failed", `Cannot report the outcome: ${why}`, { cause });

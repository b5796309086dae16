/**
 * Outcome: what became of a yes. An approval is not an effect: between the two the caller may
 * leave, the permit may expire, the action may fail.
 */
import { OUTCOME_DETAIL_CHARS_MAX } from "../limits.js";
import { escapeText } from "@acp/exec-safety/text";

/** Everything that can become of an approval, each with its meaning. */
export const CONSENT_OUTCOMES = [
  /** The action was performed. */
  "ran",
  /** It was tried and failed. */
  "failed",
  /** The caller took the yes, and something stopped the action before it began. */
  "not_performed",
  /** Nobody took the yes in time; nothing was done. */
  "not_collected",
  /** The caller took the yes and never said what came of it. */
  "unknown",
] as const;

/** One of the {@link CONSENT_OUTCOMES}. */
export type ConsentOutcomeStatus = (typeof CONSENT_OUTCOMES)[number];

/** What became of an approval: whether the approved action was performed. */
export interface ConsentOutcome {
  /** Which of the {@link CONSENT_OUTCOMES} it is. */
  readonly status: ConsentOutcomeStatus;
  /**
   * Why, in one line; most often empty for `ran`. At most 200 characters, without control
   * characters. Never what the action returned.
   */
  readonly detail: string;
}

/** An outcome with its detail made fit for one line of any screen. */
export function makeConsentOutcome(
  status: ConsentOutcomeStatus,
  detail: string = "",
): ConsentOutcome {
  const line = escapeText(detail)
    .slice(0, OUTCOME_DETAIL_CHARS_MAX)
    .replace(/[\ud800-\udbff]$/, "");
  return Object.freeze({ status, detail: line });
}

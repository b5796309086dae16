/**
 * Confirmation: what a yes to a critical question takes besides the yes. Source: spec/consent.md
 * §3.
 */
import type { ConsentRequest } from "./request.js";

/** What a person types for a yes to something critical. */
export const CONFIRMATION_WORD = "approve";

/**
 * Whether a question is about something critical: there is no default answer, no single key and no
 * lease.
 */
export function isCritical({ policy, action }: Pick<ConsentRequest, "policy" | "action">): boolean {
  return policy.requiredLevel === "critical" || action.riskLevel === "critical";
}

/**
 * The word that a person must type for a yes to this question, or `undefined` where a yes is
 * enough. A channel asks for the word, and hands on as `confirmation` what was typed, never the
 * word itself: the gate compares.
 */
export function confirmationWord(
  request: Pick<ConsentRequest, "policy" | "action">,
): string | undefined {
  return isCritical(request) ? CONFIRMATION_WORD : undefined;
}

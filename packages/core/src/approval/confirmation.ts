/**
 * Confirmation: what a yes to a critical question takes besides the yes. Source: spec/consent.md
 * §3.
 */
import type { ConsentRequest } from "./request.js";

/** What a person types to approve a critical question. */
export const CONFIRMATION_WORD = "approve";

/**
 * True if a question is about something critical. Such a question has no default answer, cannot be
 * approved with a single key, and its approval covers only the one call.
 */
export function isCritical({ policy, action }: Pick<ConsentRequest, "policy" | "action">): boolean {
  return policy.requiredLevel === "critical" || action.riskLevel === "critical";
}

/**
 * The word that a person must type to approve this question; `undefined` where none is needed. A
 * channel asks for the word and passes on what was typed as `confirmation`, never the word itself:
 * the gate compares. Source: spec/consent.md §3.
 */
export function confirmationWord(
  request: Pick<ConsentRequest, "policy" | "action">,
): string | undefined {
  return isCritical(request) ? CONFIRMATION_WORD : undefined;
}

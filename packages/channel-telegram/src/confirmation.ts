/** Confirmation: what a yes takes besides a tap. */
import type { ConsentRequest } from "@acp/core";

/** The word that must be typed as a reply for a yes, or `undefined` where a tap is enough. */
export function typedWord({ policy, action }: ConsentRequest): string | undefined {
  return policy.requiredLevel === "critical" || action.riskLevel === "critical" ? "approve" : undefined;
}

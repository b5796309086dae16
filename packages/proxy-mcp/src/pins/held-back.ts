/**
 * Held back: what a client is told in the place of what it must not see or call.
 */
import { DENY_CODES, isConsentError, quoteText } from "@acp/core";
import { deniedResult } from "../call-result.js";
import { AmbiguousListError } from "./read-tools.js";
import { INTERNAL_ERROR, resultLine } from "../rpc.js";
import type { RpcError, RpcId } from "../rpc.js";

/** Why a call of a tool is not forwarded. */
export type HeldBack = "definition_changed" | "definition_unknown";

const WHILE_WAITING: Readonly<Record<HeldBack, string>> = {
  definition_changed: "changed while the call was waiting",
  definition_unknown:
    "may have changed while the call was waiting, and its server lists it no more",
};

/**
 * The answer to a call that was allowed, of a tool that changed before it could be forwarded.
 *
 * @param isTyped - Whether the client speaks the stateless era, whose results name their type.
 */
export function heldBackLine(
  { id, tool, isTyped }: { readonly id: RpcId; readonly tool: string; readonly isTyped: boolean },
  code: HeldBack,
): Buffer {
  const notice = deniedResult({
    decision: "deny",
    code,
    reason: `the definition of ${quoteText(tool)} ${WHILE_WAITING[code]}`,
    ...DENY_CODES[code],
  });
  return resultLine(id, isTyped ? { resultType: "complete", ...notice } : notice);
}

/** A list that could not be held against what is pinned: never an empty one. */
export function heldBackError(error: unknown): RpcError {
  if (error instanceof AmbiguousListError)
    return { code: INTERNAL_ERROR, message: error.message, data: { code: "answer_ambiguous" } };
  return isConsentError(error)
    ? { code: INTERNAL_ERROR, message: error.message, data: { code: error.code } }
    : {
        code: INTERNAL_ERROR,
        message: "The list could not be compared with what is pinned",
        data: { code: "internal_error" },
      };
}

/**
 * Held back: what a client is told in the place of what it must not see or call.
 */
import { DENY_CODES, isConsentError, quoteText } from "@acp/core";
import { deniedResult } from "../call-result.js";
import type { NoticeResult } from "../call-result.js";
import { AmbiguousListError } from "./read-tools.js";
import { INTERNAL_ERROR } from "../rpc.js";
import type { RpcError } from "../rpc.js";

/** A call that was allowed, of a tool that changed before it could be forwarded. */
export function heldBackResult(tool: string): NoticeResult {
  return deniedResult({
    decision: "deny",
    code: "definition_changed",
    reason: `the definition of ${quoteText(tool)} changed while the call was waiting`,
    ...DENY_CODES.definition_changed,
  });
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

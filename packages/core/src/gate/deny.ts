/** Denials: a code's row as a Verdict. */
import { DENY_CODES, type DenyCode } from "../deny-codes.js";
import type { Denied } from "../verdict.js";

/** What one denial adds to its code's row. */
export type DenyDetail = Partial<Pick<Denied, "requestId" | "ruleId" | "retryAfterMs">>;

/** A no with its code, reason and remedy. */
export function deny(code: DenyCode, reason: string, detail: DenyDetail = {}): Denied {
  const { remedy, retryable } = DENY_CODES[code];
  return Object.freeze({ decision: "deny", code, reason, remedy, retryable, ...detail });
}

/** The text of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

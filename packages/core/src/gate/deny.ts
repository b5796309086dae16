/** Denials: a code's row as a Verdict. */
import { DENY_CODES, type DenyCode } from "../deny-codes.js";
import { ERROR_CHARS_MAX } from "../limits.js";
import { cutText } from "@acp/exec-safety/text";
import type { Denied } from "../verdict.js";

/** What one denial adds to its code's row. */
export type DenyDetail = Partial<Pick<Denied, "requestId" | "ruleId" | "retryAfterMs">>;

/** A no with its code, reason and remedy. */
export function deny(code: DenyCode, reason: string, detail: DenyDetail = {}): Denied {
  const { remedy, retryable } = DENY_CODES[code];
  return Object.freeze({ decision: "deny", code, reason, remedy, retryable, ...detail });
}

/** The text of whatever was thrown, cut to what may be repeated. Never throws itself. */
export function messageOf(error: unknown): string {
  try {
    const text: unknown = error instanceof Error ? error.message : String(error);
    return typeof text === "string" ? cutText(text, ERROR_CHARS_MAX) : UNREADABLE;
  } catch {
    return UNREADABLE;
  }
}

const UNREADABLE = "an error without a message";

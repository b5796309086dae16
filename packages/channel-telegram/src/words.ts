/**
 * Words: what a person wrote in reply to a question. Nothing is a yes but the word for it, alone.
 */

/** What was written. */
export type Words =
  | { readonly kind: "approve" /** What was typed, in lower case. */; readonly typed: string }
  | { readonly kind: "deny"; readonly reason: string }
  /** Other arguments, as JSON yet to be read. */
  | { readonly kind: "edit"; readonly json: string }
  | { readonly kind: "unclear" };

/** What is said where nothing of it was written. */
export const WORDS_HELP = `a reply is "approve", "deny" with or without a reason, or all arguments as one JSON object`;

/** Reads a reply. */
export function readWords(text: string): Words {
  const trimmed = text.trim();
  if (trimmed.startsWith("{")) return { kind: "edit", json: trimmed };
  const typed = trimmed.toLowerCase();
  if (typed === "approve") return { kind: "approve", typed };
  const denial = /^deny(?:$|[\s:,]+)(.*)$/is.exec(trimmed);
  return denial === null ? { kind: "unclear" } : { kind: "deny", reason: denial[1] ?? "" };
}

/** Quotes untrusted text inside the one line of an error. */
import { quoteText } from "./escape.js";

const CHARS_MAX = 80;

/**
 * At most 80 characters of a text in double quotes, for error texts, with everything escaped that
 * could hide or reorder text. A longer text ends with `…`.
 */
export function quote(text: string): string {
  return quoteText(cutText(text, CHARS_MAX));
}

/** The text, or its first `charsMax` UTF-16 units and `…` where it is longer. */
export function cutText(text: string, charsMax: number): string {
  return text.length > charsMax ? `${text.slice(0, charsMax)}…` : text;
}

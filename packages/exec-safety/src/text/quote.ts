/** Quotes untrusted text inside the one line of an error. */
import { quoteText } from "./escape.js";

const CHARS_MAX = 80;

/** The text in double quotes, cut short, with everything escaped that could hide or reorder. */
export function quote(text: string): string {
  return quoteText(cutText(text, CHARS_MAX));
}

/** The beginning of a text that is longer than it may be. */
export function cutText(text: string, charsMax: number): string {
  return text.length > charsMax ? `${text.slice(0, charsMax)}…` : text;
}

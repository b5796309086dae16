/** Quotes untrusted text inside the one line of an error. */
import { quoteText } from "./approval/escape.js";

const CHARS_MAX = 80;

/** The text in double quotes, cut short, with everything escaped that could hide or reorder. */
export function quote(text: string): string {
  return quoteText(text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX)}…` : text);
}

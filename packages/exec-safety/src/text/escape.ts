/**
 * Escaping of text that an agent chose, before a person sees it. Control, bidi, zero-width, tag,
 * private-use, unassigned, blank-looking and unusual space characters become JSON escapes, and so
 * does a mark that has no letter to stand on: it would change a character of ours. Vectors:
 * spec/vectors/text.json.
 */

// Letters, digits, punctuation, symbols, the plain space, and up to four marks on one letter stay.
// U+2800 and those after it look like nothing at all.
const UNSAFE =
  /(?:[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{13441}\u{13442}\u{1d159}]|\u{16fe4}|(?! )\p{Zs})\p{M}*|(?<![\p{L}\p{M}])\p{M}+|\p{M}{5,}/gu;

const hex4 = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`;

function escapeUnits(text: string): string {
  let out = "";
  for (let i = 0; i < text.length; i++) out += hex4(text.charCodeAt(i));
  return out;
}

/**
 * The text on one line with every character that could hide, reorder or forge written as `\uXXXX`.
 * Idempotent.
 *
 * @example
 * ```ts
 * import { escapeText } from "@acp/exec-safety/text";
 *
 * escapeText("a\nb"); // one line, which shows where the break is
 * ```
 */
export function escapeText(text: string): string {
  return text.replace(UNSAFE, escapeUnits);
}

/**
 * The text as a JSON string literal that is safe to show: on one line, with characters that could
 * hide or reorder text escaped.
 */
export function quoteText(text: string): string {
  return escapeText(JSON.stringify(text));
}

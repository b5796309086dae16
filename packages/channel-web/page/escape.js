/**
 * Escaping, as @acp/core does it (spec/consent.md §4): what an agent chose and could hide, reorder
 * or forge something is written as `\uXXXX`. `request.text` comes escaped; everything else of a
 * request goes through here before it is shown.
 */
const UNSAFE =
  /(?:[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{13441}\u{13442}\u{1d159}]|\u{16fe4}|(?! )\p{Zs})\p{M}*|(?<![\p{L}\p{M}])\p{M}+|\p{M}{5,}/gu;

/** @type {(text: string) => string} */
const escapeUnits = (text) =>
  Array.from(
    { length: text.length },
    (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");

/**
 * The text on one line.
 *
 * @param {string} text
 */
export const escapeText = (text) => text.replace(UNSAFE, escapeUnits);

/**
 * The text as a JSON literal: one reading, one line.
 *
 * @param {string} text
 */
export const quoteText = (text) => escapeText(JSON.stringify(text));

/**
 * A name as it is where it is plain, otherwise quoted.
 *
 * @param {string} name
 */
export const showName = (name) =>
  /^[A-Za-z0-9][A-Za-z0-9_.@:/+-]{0,38}$/.test(name) ? name : quoteText(name);

/**
 * The beginning of a text, no character cut in half.
 *
 * @param {string} text
 * @param {number} chars
 */
export const clip = (text, chars) => text.slice(0, chars).replace(/[\ud800-\udbff]$/, "");

/**
 * Decode: the texts that a line can decode before it runs them, as far as they are ASCII. For
 * recall only: what cannot be decoded is unknown.
 */

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Base64 text; undefined where it is none. */
export function decodeBase64(text: string): string | undefined {
  let bits = 0;
  let held = 0;
  let decoded = "";
  for (const letter of text) {
    if (letter === "=" || letter === "\n" || letter === " ") continue;
    const value = BASE64.indexOf(letter);
    if (value < 0) return undefined;
    held = (held << 6) | value;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      decoded += String.fromCharCode((held >> bits) & 0xff);
      held &= (1 << bits) - 1;
    }
  }
  return decoded;
}

/** Pairs of hexadecimal digits; undefined where they are none. */
export function decodeHex(text: string): string | undefined {
  const digits = text.replace(/\s/g, "");
  if (!/^[0-9a-fA-F]*$/.test(digits)) return undefined;
  let decoded = "";
  for (let at = 0; at + 1 < digits.length; at += 2)
    decoded += String.fromCharCode(Number.parseInt(digits.slice(at, at + 2), 16));
  return decoded;
}

const LETTERS: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["\\", "\\"],
  ['"', '"'],
  ["'", "'"],
]);

/** `\x72`, `\162`, `\u0072`, `\n` as printf and `echo -e` read them. */
export function decodeEscapes(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(
    /\\(?:x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|0?[0-7]{1,3}|[nt\\"'])/g,
    (escape) => {
      const letter = escape.charAt(1);
      const plain = LETTERS.get(letter);
      if (plain !== undefined) return plain;
      const isHex = letter === "x" || letter === "u";
      return String.fromCharCode(Number.parseInt(escape.slice(isHex ? 2 : 1), isHex ? 16 : 8));
    },
  );
}

/** Base64 (RFC 4648), written without padding; read back in one spelling only. */

const STANDARD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/** The alphabet of RFC 4648 §5. */
export const URL_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Bytes as base64 without padding. */
export function toBase64(bytes: Uint8Array, alphabet: string = STANDARD): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xffff;
    bits += 8;
    for (; bits >= 6; bits -= 6) text += alphabet.charAt((held >> (bits - 6)) & 0x3f);
  }
  return bits === 0 ? text : text + alphabet.charAt((held << (6 - bits)) & 0x3f);
}

/**
 * The bytes of base64url text without padding; `undefined` for every other text, also for one that
 * only differs in unused bits.
 */
export function fromBase64Url(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * 6) / 8));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const char of text) {
    const digit = URL_SAFE.indexOf(char);
    if (digit === -1) return undefined;
    held = ((held << 6) | digit) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (held >> bits) & 0xff;
    }
  }
  return toBase64(bytes, URL_SAFE) === text ? bytes : undefined;
}

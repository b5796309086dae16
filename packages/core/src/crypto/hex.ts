/** Hexadecimal text: lower case only, so that one value has one spelling. */

const HEX = /^(?:[0-9a-f]{2})*$/;
const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Two lower-case digits for every byte. */
export function toHex(bytes: Uint8Array): string {
  let hex = "";
  for (const byte of bytes) hex += DIGITS[byte] ?? "";
  return hex;
}

/** The bytes, or `undefined` for anything but pairs of lower-case digits. */
export function fromHex(hex: string): Uint8Array | undefined {
  if (!HEX.test(hex)) return undefined;
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at++)
    bytes[at] = (valueOf(hex.charCodeAt(2 * at)) << 4) | valueOf(hex.charCodeAt(2 * at + 1));
  return bytes;
}

/** What a digit is worth, by its UTF-16 unit: 0 to 9 stand from 0x30 on, a to f from 0x61 on. */
function valueOf(unit: number): number {
  return unit < 0x61 ? unit - 0x30 : unit - 0x57;
}

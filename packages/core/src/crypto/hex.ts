/** Hexadecimal text: lower case only, so that one value has one spelling. */

const HEX = /^(?:[0-9a-f]{2})*$/;

/** Two lower-case digits for every byte. */
export function toHex(bytes: Uint8Array): string {
  let hex = "";
  for (const byte of bytes) hex += byte.toString(16).padStart(2, "0");
  return hex;
}

/** The bytes, or `undefined` for anything but pairs of lower-case digits. */
export function fromHex(hex: string): Uint8Array | undefined {
  if (!HEX.test(hex)) return undefined;
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) => Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16));
}

/** Native crypto: what `#crypto` means on Node. The same functions and bytes as portable.ts. */
import { hash, randomUUID } from "node:crypto";

/** SHA-256 of UTF-8 text or bytes, as 64 lower-case hex digits. */
export function sha256Hex(input: string | Uint8Array): string {
  return hash("sha256", input, "hex");
}

/** A random UUID (RFC 9562, version 4): 122 random bits. */
export function randomId(): string {
  return randomUUID();
}

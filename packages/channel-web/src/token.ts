/**
 * Token: random values that are shown once and kept as hashes.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const TOKEN_BYTES = 32;
/** A token has 43 characters; nothing much longer is hashed. */
const GIVEN_CHARS_MAX = 256;

/** 256 random bits, base64url without padding. */
export const makeToken = (): string => randomBytes(TOKEN_BYTES).toString("base64url");

/** SHA-256 of a text. */
export const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Whether a text has this hash. In constant time. */
export function hasHash(given: string, hash: Uint8Array): boolean {
  return given.length <= GIVEN_CHARS_MAX && timingSafeEqual(hashOf(given), hash);
}

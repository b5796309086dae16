/**
 * Key hash: the numbers that stand for a key in a look-up table. Pure. Format: spec/audit-index.md
 * §3.2.
 */
import { hash as digest } from "node:crypto";

/** What is kept of a key. */
export interface KeyHash {
  /** Below 2^32; says in which bucket the key is, too. */
  readonly place: number;
  /** Below 2^16; with it two keys hardly ever look alike. */
  readonly mark: number;
}

const PLACE_DIGITS = 8;
const MARK_DIGITS = 4;

/** The first four bytes of the key's SHA-256, and the next two, big-endian. */
export function hashKey(key: string): KeyHash {
  // As a text of 64 digits: Node makes one several times faster than a Buffer.
  const hex = digest("sha256", key, "hex");
  return {
    place: Number.parseInt(hex.slice(0, PLACE_DIGITS), 16),
    mark: Number.parseInt(hex.slice(PLACE_DIGITS, PLACE_DIGITS + MARK_DIGITS), 16),
  };
}

/** The bucket of a place, where there are so many. */
export function bucketOf(place: number, buckets: number): number {
  return Math.floor((place / 2 ** 32) * buckets);
}

/**
 * Key hash: the numbers that stand for a key in a look-up table. Pure. Format: spec/audit-index.md
 * §3.2.
 */
import { createHash } from "node:crypto";

/** What is kept of a key. */
export interface KeyHash {
  /** Below 2^32; says in which bucket the key is, too. */
  readonly place: number;
  /** Below 2^16; with it two keys hardly ever look alike. */
  readonly mark: number;
}

/** The first four bytes of the key's SHA-256, and the next two, big-endian. */
export function hashKey(key: string): KeyHash {
  const hash = createHash("sha256").update(key).digest();
  return { place: hash.readUInt32BE(0), mark: hash.readUInt16BE(4) };
}

/** The bucket of a place, where there are so many. */
export function bucketOf(place: number, buckets: number): number {
  return Math.floor((place / 2 ** 32) * buckets);
}

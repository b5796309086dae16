/**
 * Key filter: a set of keys of which only "surely not" is remembered, in two bytes a key. Pure.
 * Format: spec/audit-index.md §3.
 */
import { createHash } from "node:crypto";

const BITS_A_KEY = 16;
const PROBES = 6;
const BYTE_BITS = 8;
/** Filters are read from a file: one of no bits would divide by zero. */
const BITS_MIN = 64;

/** The filter of these keys. */
export function makeKeyFilter(keys: ReadonlySet<string>): Uint8Array {
  const bits = Math.max(BITS_MIN, keys.size * BITS_A_KEY);
  const filter = new Uint8Array(bits / BYTE_BITS);
  for (const key of keys)
    for (const at of probesOf(key, bits)) {
      const byte = at >>> 3;
      filter[byte] = (filter[byte] ?? 0) | (1 << (at & 7));
    }
  return filter;
}

/** A key that is looked for in many filters. */
export type KeyTest = (filter: Uint8Array) => boolean;

/** Tests for one key: false only where the key surely is not in the set. */
export function createKeyTest(key: string): KeyTest {
  const [one, two] = hashesOf(key);
  return (filter) => {
    const bits = filter.length * BYTE_BITS;
    if (bits < BITS_MIN) return true;
    for (let probe = 0; probe < PROBES; probe++) {
      const at = probeAt(one, two, probe, bits);
      if (((filter[at >>> 3] ?? 0) & (1 << (at & 7))) === 0) return false;
    }
    return true;
  };
}

function probesOf(key: string, bits: number): readonly number[] {
  const [one, two] = hashesOf(key);
  return Array.from({ length: PROBES }, (_, probe) => probeAt(one, two, probe, bits));
}

// oxlint-disable-next-line max-params -- four numbers of one formula
function probeAt(one: number, two: number, probe: number, bits: number): number {
  return (one + probe * two) % bits;
}

/** Two numbers below 2^32 of the key's SHA-256; the second is odd, so that no probes coincide. */
function hashesOf(key: string): readonly [number, number] {
  const hash = createHash("sha256").update(key).digest();
  return [hash.readUInt32BE(0), (hash.readUInt32BE(4) | 1) >>> 0];
}

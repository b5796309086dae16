/**
 * Merkle: RFC 6962 tree hashes over a log's lines, and the checks of proofs. Pure.
 * Format: spec/checkpoints.md §2. Vectors: transparency-dev/merkle, spec/vectors/checkpoints.json.
 */
import { hash as digest } from "node:crypto";

/** Bytes of a tree hash: SHA-256. */
export const TREE_HASH_BYTES = 32;

/** A proof that a leaf is in a tree (RFC 6962 §2.1.1). */
export interface InclusionProof {
  /** Number of the leaf, from 0: the event's `seq`. */
  readonly index: number;
  /** How many leaves the tree has. */
  readonly size: number;
  /** Hashes of the siblings on the path from the leaf up to the root. */
  readonly hashes: readonly Uint8Array[];
}

/** A proof that one tree is the beginning of a larger one. */
export interface ConsistencyProof {
  /** Number of leaves of the smaller tree. */
  readonly from: number;
  /** Number of leaves of the larger tree. */
  readonly to: number;
  /** Nodes of the path, in the order of RFC 9162 §2.1.4. */
  readonly hashes: readonly Uint8Array[];
}

// Inside a tree a hash is a text of 32 latin1 characters: Node makes one three times faster than a
// Buffer.
const LATIN1 = "binary"; // Node's other name of it
let leafScratch = Buffer.alloc(64 * 1024);
const nodeScratch = Buffer.alloc(1 + 2 * TREE_HASH_BYTES, 1);

/**
 * Hash of the leaf `bytes[start, end)`, as latin1 text. The byte before it, where there is one, is
 * lent to the prefix: that saves a copy.
 */
export function leafText(bytes: Uint8Array, start: number, end: number): string {
  const before = bytes[start - 1];
  if (before === undefined) return copiedLeafText(bytes.subarray(start, end));
  bytes[start - 1] = 0;
  const text = digest("sha256", bytes.subarray(start - 1, end), LATIN1);
  bytes[start - 1] = before;
  return text;
}

function copiedLeafText(leaf: Uint8Array): string {
  if (leafScratch.length <= leaf.length) leafScratch = Buffer.alloc(leaf.length * 2);
  leafScratch.set(leaf, 1);
  return digest("sha256", leafScratch.subarray(0, leaf.length + 1), LATIN1);
}

/** Hash of a node over two subtrees, all as latin1 text. */
export function nodeText(left: string, right: string): string {
  nodeScratch.write(left, 1, LATIN1);
  nodeScratch.write(right, 1 + TREE_HASH_BYTES, LATIN1);
  return digest("sha256", nodeScratch, LATIN1);
}

/** Hash of the tree without leaves, as latin1 text. */
export const EMPTY_TEXT: string = digest("sha256", "", LATIN1);

/** The bytes of a hash in latin1 text. */
export function hashBytes(text: string): Uint8Array {
  return Buffer.from(text, LATIN1);
}

/** A hash as latin1 text. */
export function hashText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

/** Hash of a leaf (RFC 6962 §2.1): a log line's bytes without its newline. */
export function merkleLeafHash(line: Uint8Array): Uint8Array {
  return hashBytes(leafText(line, 0, line.length));
}

/**
 * Whether the proof shows that `leafHash` is in the tree with this `root`. Returns false for any
 * malformed part, and never throws.
 */
export function verifyInclusion(
  leafHash: Uint8Array,
  root: Uint8Array,
  { index, size, hashes }: InclusionProof,
): boolean {
  if (
    !isCount(index) ||
    !isCount(size) ||
    index >= size ||
    ![leafHash, root, ...hashes].every(isHash)
  )
    return false;
  let [at, last] = [index, size - 1];
  let hash = hashText(leafHash);
  for (const each of hashes) {
    if (last === 0) return false;
    const sibling = hashText(each);
    if (at % 2 === 1 || at === last) {
      hash = nodeText(sibling, hash);
      // No neighbour on the right on these levels: the subtree goes up as it is.
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, half(last)];
    } else hash = nodeText(hash, sibling);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && hash === hashText(root);
}

/**
 * Whether the proof shows that the tree with `fromRoot` is the beginning of the one with `toRoot`.
 * Returns false for any malformed part.
 */
export function verifyConsistency(
  fromRoot: Uint8Array,
  toRoot: Uint8Array,
  { from, to, hashes }: ConsistencyProof,
): boolean {
  if (!isCount(from) || !isCount(to) || from > to) return false;
  if (from === 0 && hashText(fromRoot) !== EMPTY_TEXT) return false;
  if (from === to) return hashes.length === 0 && hashText(fromRoot) === hashText(toRoot);
  if (from === 0) return hashes.length === 0 && isHash(toRoot);
  if (![fromRoot, toRoot, ...hashes].every(isHash)) return false;
  const texts = hashes.map(hashText);
  let [at, last] = [from - 1, to - 1];
  while (at % 2 === 1) [at, last] = [half(at), half(last)];
  // The start is one whole subtree: then its root is the first hash, and is not in the proof.
  const [first, ...rest] = at === 0 ? [hashText(fromRoot), ...texts] : texts;
  if (first === undefined) return false;
  let [old, grown] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      [old, grown] = [nodeText(sibling, old), nodeText(sibling, grown)];
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, half(last)];
    } else grown = nodeText(grown, sibling);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && old === hashText(fromRoot) && grown === hashText(toRoot);
}

/** Not `>> 1`, which ends at 32 bits. */
function half(number: number): number {
  return Math.floor(number / 2);
}

function isCount(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 0;
}

function isHash(bytes: Uint8Array): boolean {
  return bytes instanceof Uint8Array && bytes.length === TREE_HASH_BYTES;
}

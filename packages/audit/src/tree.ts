/**
 * Tree: every hash of a Merkle tree in memory, to make proofs from. 64 bytes a leaf: 64 MB for
 * 1,000,000.
 */
import {
  type ConsistencyProof,
  EMPTY_TEXT,
  type InclusionProof,
  TREE_HASH_BYTES,
  hashBytes,
  leafText,
  nodeText,
} from "./merkle.js";

/** A whole tree. */
export interface MerkleTree {
  size(): number;
  /** Adds the leaf `bytes[start, end)`. */
  add(bytes: Uint8Array, start: number, end: number): void;
  /** Root of the first `size` leaves; of all where it is left out. */
  root(size?: number): Uint8Array;
  /** @throws RangeError where the tree has no such leaf or was never that large. */
  inclusion(index: number, size?: number): InclusionProof;
  /** @throws RangeError where the tree was never that large. */
  consistency(from: number, to?: number): ConsistencyProof;
}

/** Hashes of the whole subtrees of one height, in order. */
interface Level {
  bytes: Buffer;
  count: number;
}

/** A tree without leaves. */
export function merkleTree(): MerkleTree {
  const levels: Level[] = [];
  const size = (): number => levels[0]?.count ?? 0;
  const within = (count: number, max: number): void => {
    if (!Number.isSafeInteger(count) || count < 0 || count > max)
      throw new RangeError(`${count} is not between 0 and ${max}`);
  };
  return {
    size,
    add(bytes, start, end) {
      let hash = leafText(bytes, start, end);
      for (let height = 0; push(levels, height, hash) % 2 === 0; height++) {
        const { count } = levelAt(levels, height);
        hash = nodeText(hashAt(levels, height, count - 2), hash);
      }
    },
    root(of = size()) {
      within(of, size());
      return hashBytes(rangeRoot(levels, 0, of));
    },
    inclusion(index, of = size()) {
      within(of, size());
      within(index, of - 1);
      return { index, size: of, hashes: inclusionPath(levels, index, of).map(hashBytes) };
    },
    consistency(from, to = size()) {
      within(to, size());
      within(from, to);
      return {
        from,
        to,
        hashes: (from === 0 ? [] : consistencyPath(levels, from, to)).map(hashBytes),
      };
    },
  };
}

function levelAt(levels: Level[], height: number): Level {
  return (levels[height] ??= { bytes: Buffer.alloc(TREE_HASH_BYTES * 64), count: 0 });
}

/** The new number of hashes on the level. */
function push(levels: Level[], height: number, hash: string): number {
  const level = levelAt(levels, height);
  const at = level.count * TREE_HASH_BYTES;
  if (at === level.bytes.length) level.bytes = Buffer.concat([level.bytes, Buffer.alloc(at)]);
  level.bytes.write(hash, at, "latin1");
  return ++level.count;
}

function hashAt(levels: readonly Level[], height: number, index: number): string {
  return (
    levels[height]?.bytes.toString(
      "latin1",
      index * TREE_HASH_BYTES,
      (index + 1) * TREE_HASH_BYTES,
    ) ?? ""
  );
}

/** The largest power of two below `count`, and its exponent. */
function splitPoint(count: number): number {
  return 2 ** Math.floor(Math.log2(count - 1));
}

/**
 * MTH of the leaves from `start` to `end`, where `start` is where a subtree of that size starts.
 */
function rangeRoot(levels: readonly Level[], start: number, end: number): string {
  const count = end - start;
  if (count === 0) return EMPTY_TEXT;
  const height = Math.log2(count);
  if (Number.isInteger(height)) return hashAt(levels, height, start / count);
  const middle = start + splitPoint(count);
  return nodeText(rangeRoot(levels, start, middle), rangeRoot(levels, middle, end));
}

/** PATH(m, D[n]) of RFC 6962. */
function inclusionPath(levels: readonly Level[], index: number, size: number): readonly string[] {
  const path: string[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + splitPoint(end - start);
    path.push(index < middle ? rangeRoot(levels, middle, end) : rangeRoot(levels, start, middle));
    [start, end] = index < middle ? [start, middle] : [middle, end];
  }
  return path.toReversed();
}

/** PROOF(m, D[n]) of RFC 6962. */
function consistencyPath(levels: readonly Level[], from: number, to: number): readonly string[] {
  const path: string[] = [];
  let [start, end] = [0, to];
  while (from !== end) {
    const middle = start + splitPoint(end - start);
    path.push(from <= middle ? rangeRoot(levels, middle, end) : rangeRoot(levels, start, middle));
    [start, end] = from <= middle ? [start, middle] : [middle, end];
  }
  // the verifier knows the root of a start that is one whole subtree
  if (start > 0) path.push(rangeRoot(levels, start, end));
  return path.toReversed();
}

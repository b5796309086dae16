/**
 * Tree edge: what a growing Merkle tree must remember to go on and to know its root: one hash for
 * every whole subtree, at most 53.
 */
import { EMPTY_TEXT, hashBytes, leafText, nodeText } from "./merkle.js";

/** The right edge of a Merkle tree: what its writer needs to continue it. */
export interface TreeEdge {
  /** Number of leaves. */
  readonly size: number;
  /** Hex hashes of the whole subtrees, largest first. */
  readonly hashes: readonly string[];
}

/** A tree that leaves are added to. */
export interface GrowingTree {
  size(): number;
  /** Adds the leaf `bytes[start, end)`. */
  add(bytes: Uint8Array, start: number, end: number): void;
  /** Adds a leaf by its hash, as {@link leafText} gives it. */
  addHash(leaf: string): void;
  root(): Uint8Array;
  edge(): TreeEdge;
}

const HASH = /^[0-9a-f]{64}$/;

/** Goes on with a tree, or starts one. The edge must be one: see {@link isTreeEdge}. */
export function growTree(from: TreeEdge = { size: 0, hashes: [] }): GrowingTree {
  let { size } = from;
  const stack = from.hashes.map((hash) => Buffer.from(hash, "hex").toString("latin1"));
  const addHash = (leaf: string): void => {
    let hash = leaf;
    for (let full = size; full % 2 === 1; full = (full - 1) / 2)
      hash = nodeText(stack.pop() ?? "", hash);
    stack.push(hash);
    size += 1;
  };
  return {
    size: () => size,
    add: (bytes, start, end) => addHash(leafText(bytes, start, end)),
    addHash,
    root: () =>
      hashBytes(
        stack.length === 0 ? EMPTY_TEXT : stack.reduceRight((right, left) => nodeText(left, right)),
      ),
    edge: () => ({
      size,
      hashes: stack.map((hash) => Buffer.from(hash, "latin1").toString("hex")),
    }),
  };
}

/**
 * Whether the value is the edge of a tree of that size: one hash for each one in the size's binary
 * form.
 */
export function isTreeEdge(size: unknown, hashes: unknown): hashes is readonly string[] {
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0 || !Array.isArray(hashes))
    return false;
  const subtrees = size.toString(2).replaceAll("0", "").length;
  return (
    hashes.length === subtrees &&
    hashes.every((hash) => typeof hash === "string" && HASH.test(hash))
  );
}

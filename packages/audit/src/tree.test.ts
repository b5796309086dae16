import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  hashBytes,
  leafText,
  merkleLeafHash,
  verifyConsistency,
  verifyInclusion,
} from "./merkle.js";
import { growTree, isTreeEdge } from "./tree-edge.js";
import { merkleTree } from "./tree.js";

const SIZES = 70;
const LINES = Array.from({ length: SIZES }, (_, number) => Buffer.from(`line ${number}`));
const TREE = merkleTree();
for (const line of LINES) TREE.add(line, 0, line.length);

const flipped = (hash: Uint8Array, bit: number): Uint8Array =>
  hash.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));

describe("leafText()", () => {
  it("is the same wherever the leaf lies, and leaves the bytes as they were", () => {
    const line = Buffer.from("one line");
    const among = Buffer.from("before\none line\nafter");
    const want = merkleLeafHash(line);
    expect(hashBytes(leafText(among, 7, 15))).toEqual(want);
    expect(hashBytes(leafText(line, 0, line.length))).toEqual(want);
    expect(among.toString()).toBe("before\none line\nafter");
  });
});

describe("merkleTree()", () => {
  it("proves every line in every size, and nothing else", () => {
    for (let size = 1; size <= SIZES; size++) {
      const root = TREE.root(size);
      for (let index = 0; index < size; index++) {
        const proof = TREE.inclusion(index, size);
        const leaf = merkleLeafHash(LINES[index] ?? Buffer.alloc(0));
        expect(verifyInclusion(leaf, root, proof)).toBe(true);
        expect(verifyInclusion(leaf, root, { ...proof, index: (index + 1) % (size + 1) })).toBe(
          false,
        );
        expect(verifyInclusion(leaf, root, { ...proof, hashes: [...proof.hashes, leaf] })).toBe(
          false,
        );
      }
    }
  });

  it("proves that every size is the start of every larger one", () => {
    for (let to = 0; to <= SIZES; to++) {
      for (let from = 0; from <= to; from++) {
        const proof = TREE.consistency(from, to);
        expect(verifyConsistency(TREE.root(from), TREE.root(to), proof)).toBe(true);
        if (from > 0 && from < to)
          expect(verifyConsistency(TREE.root(from - 1), TREE.root(to), proof)).toBe(false);
      }
    }
  });

  it("makes proofs in which every bit counts", () => {
    const sizes = fc.tuple(fc.integer({ min: 2, max: SIZES }), fc.nat(), fc.nat(255), fc.nat());
    fc.assert(
      fc.property(sizes, ([to, of, bit, which]) => {
        const inclusion = TREE.inclusion(of % to, to);
        const leaf = merkleLeafHash(LINES[of % to] ?? Buffer.alloc(0));
        const broken = inclusion.hashes.map((hash, at) =>
          at === which % inclusion.hashes.length ? flipped(hash, bit) : hash,
        );
        expect(verifyInclusion(leaf, TREE.root(to), { ...inclusion, hashes: broken })).toBe(false);
        const consistency = TREE.consistency(1 + (of % (to - 1)), to);
        const changed = consistency.hashes.map((hash, at) =>
          at === which % consistency.hashes.length ? flipped(hash, bit) : hash,
        );
        expect(
          verifyConsistency(TREE.root(consistency.from), TREE.root(to), {
            ...consistency,
            hashes: changed,
          }),
        ).toBe(false);
      }),
    );
  });

  it("refuses what it never had", () => {
    expect(() => TREE.inclusion(SIZES)).toThrow(RangeError);
    expect(() => TREE.inclusion(3, 3)).toThrow(RangeError);
    expect(() => TREE.root(SIZES + 1)).toThrow(RangeError);
    expect(() => TREE.consistency(5, 4)).toThrow(RangeError);
    expect(() => TREE.inclusion(-1)).toThrow(RangeError);
    expect(() => TREE.inclusion(0.5)).toThrow(RangeError);
  });
});

describe("growTree()", () => {
  it("has the roots of the whole tree, gone on from any edge", () => {
    for (let start = 0; start <= SIZES; start++) {
      const grown = growTree();
      for (const line of LINES.slice(0, start)) grown.add(line, 0, line.length);
      const again = growTree(grown.edge());
      for (const line of LINES.slice(start)) again.add(line, 0, line.length);
      expect(Buffer.from(again.root()).equals(TREE.root())).toBe(true);
      expect(again.size()).toBe(SIZES);
    }
  });
});

describe("isTreeEdge()", () => {
  it("wants one hash for every one in the size", () => {
    const hash = "0".repeat(64);
    expect(isTreeEdge(5, [hash, hash])).toBe(true);
    expect(isTreeEdge(0, [])).toBe(true);
    for (const [size, hashes] of [
      [5, [hash]],
      [4, [hash, hash]],
      [1, ["0"]],
      [1, [7]],
      [-1, []],
      [0.5, []],
      ["1", [hash]],
      [1, hash],
    ])
      expect(isTreeEdge(size, hashes)).toBe(false);
  });
});

describe("verifyInclusion() and verifyConsistency()", () => {
  it("refuse malformed parts without throwing", () => {
    const root = TREE.root();
    const leaf = merkleLeafHash(LINES[0] ?? Buffer.alloc(0));
    const proof = TREE.inclusion(0);
    expect(verifyInclusion(leaf.subarray(1), root, proof)).toBe(false);
    expect(verifyInclusion(leaf, root, { ...proof, size: Number.NaN })).toBe(false);
    expect(verifyInclusion(leaf, root, { ...proof, index: 2 ** 53, size: 2 ** 53 })).toBe(false);
    expect(
      verifyInclusion(leaf, root, {
        ...proof,
        hashes: proof.hashes.map((hash) => hash.subarray(1)),
      }),
    ).toBe(false);
    expect(verifyConsistency(root, root, { from: SIZES, to: SIZES, hashes: [root] })).toBe(false);
    expect(verifyConsistency(root, root, { from: 1.5, to: 2, hashes: [] })).toBe(false);
  });
});

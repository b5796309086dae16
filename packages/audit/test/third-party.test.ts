/** Merkle proofs, tree hashes and signed notes against other people's vectors. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
  type InclusionProof,
  hashBytes,
  leafText,
  merkleLeafHash,
  nodeText,
  verifyConsistency,
  verifyInclusion,
} from "../src/merkle.js";
import { noteVerifier, openNote } from "../src/note.js";
import { growTree } from "../src/tree-edge.js";
import { merkleTree } from "../src/tree.js";

const root: string = fileURLToPath(new URL("../../..", import.meta.url));
const folder: string = resolve(root, process.env["ACP_VECTORS"] ?? "../shared/vectors");

/** Every JSON file below a folder, parsed. */
function rowsBelow<T>(path: string): readonly { readonly file: string; readonly row: T }[] {
  return readdirSync(join(folder, path), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((file) => ({
      file,
      row: JSON.parse(readFileSync(join(folder, path, file), "utf8")) as T,
    }));
}

const describeVectors = (name: string, subfolder: string, run: () => void): void => {
  const found = existsSync(join(folder, subfolder));
  describe.runIf(found)(`${name} vectors${found ? "" : ", skipped: no vectors"}`, () => {
    run();
  });
};

const bytes = (base64: string): Uint8Array => Buffer.from(base64, "base64");
const proof = (hashes: readonly string[] | null): readonly Uint8Array[] =>
  (hashes ?? []).map(bytes);
const hex = (hash: Uint8Array): string => Buffer.from(hash).toString("hex");

interface InclusionRow {
  readonly leafIdx: number;
  readonly treeSize: number;
  readonly root: string;
  readonly leafHash: string;
  readonly proof: readonly string[] | null;
  readonly wantErr: boolean;
}

interface ConsistencyRow {
  readonly size1: number;
  readonly size2: number;
  readonly root1: string;
  readonly root2: string;
  readonly proof: readonly string[] | null;
  readonly wantErr: boolean;
}

describeVectors("transparency-dev/merkle", "merkle/testdata", () => {
  it("verifyInclusion() agrees with every row", () => {
    const rows = rowsBelow<InclusionRow>("merkle/testdata/inclusion");
    const wrong = rows.filter(({ row }) => {
      const claim: InclusionProof = {
        index: row.leafIdx,
        size: row.treeSize,
        hashes: proof(row.proof),
      };
      return verifyInclusion(bytes(row.leafHash), bytes(row.root), claim) === row.wantErr;
    });
    process.stdout.write(`merkle inclusion: ${rows.length - wrong.length}/${rows.length}\n`);
    expect(wrong.map(({ file }) => file)).toEqual([]);
    expect(rows.length).toBeGreaterThan(90);
  });

  it("verifyConsistency() agrees with every row", () => {
    const rows = rowsBelow<ConsistencyRow>("merkle/testdata/consistency");
    const wrong = rows.filter(({ row }) => {
      const claim = { from: row.size1, to: row.size2, hashes: proof(row.proof) };
      return verifyConsistency(bytes(row.root1), bytes(row.root2), claim) === row.wantErr;
    });
    const others =
      rowsBelow("merkle/testdata/subtreeconsistency").length +
      rowsBelow("merkle/testdata/subtreeinclusion").length;
    const passed = `${rows.length - wrong.length}/${rows.length}`;
    process.stdout.write(
      `merkle consistency: ${passed}\n  excluded ${others}: subtree rows, another scheme\n`,
    );
    expect(wrong.map(({ file }) => file)).toEqual([]);
    expect(rows.length).toBeGreaterThan(90);
  });
});

interface Reference {
  readonly LeafInputs: readonly string[];
  readonly NodeHashes: readonly string[];
  readonly RootHashes: readonly string[];
  readonly EmptyRootHash: readonly string[];
}

describeVectors("RFC 6962 reference", "tlog/rfc6962_reference.json", () => {
  const { data } = JSON.parse(
    readFileSync(join(folder, "tlog/rfc6962_reference.json"), "utf8"),
  ) as { readonly data: Reference };
  const leaves = data.LeafInputs.map((leaf) => Buffer.from(leaf, "hex"));

  it("growTree() and merkleTree() have the roots of all sizes", () => {
    const [grown, whole] = [growTree(), merkleTree()];
    expect([hex(grown.root()), hex(whole.root())]).toEqual([
      data.EmptyRootHash[0],
      data.EmptyRootHash[0],
    ]);
    for (const [index, leaf] of leaves.entries()) {
      grown.add(leaf, 0, leaf.length);
      whole.add(leaf, 0, leaf.length);
      expect([hex(grown.root()), hex(whole.root())]).toEqual([
        data.RootHashes[index],
        data.RootHashes[index],
      ]);
    }
    expect(leaves.map((_, index) => hex(whole.root(index + 1)))).toEqual(data.RootHashes);
  });

  it("leaf and node hashes are those of the reference", () => {
    let level = leaves.map((leaf) => leafText(leaf, 0, leaf.length));
    const found = [...level];
    while (level.length > 1) {
      level = level.flatMap((left, index) =>
        index % 2 === 0 ? [nodeText(left, level[index + 1] ?? "")] : [],
      );
      found.push(...level);
    }
    expect(new Set(found.map((text) => hex(hashBytes(text))))).toEqual(new Set(data.NodeHashes));
    expect(leaves.map((leaf) => hex(merkleLeafHash(leaf)))).toEqual(
      found.slice(0, 8).map((text) => hex(hashBytes(text))),
    );
  });
});

describeVectors("golang/mod signed note", "tlog/signed_note.json", () => {
  interface Row {
    readonly name: string;
    readonly keys: readonly string[];
    readonly note: string;
    readonly ok: boolean;
  }
  const { rows } = JSON.parse(readFileSync(join(folder, "tlog/signed_note.json"), "utf8")) as {
    readonly rows: readonly Row[];
  };
  it.each(rows)("openNote(): $name", ({ keys, note, ok }) => {
    expect(openNote(note, keys.map(noteVerifier)).ok).toBe(ok);
  });
  it("are 14", () => {
    expect(rows).toHaveLength(14);
  });
});

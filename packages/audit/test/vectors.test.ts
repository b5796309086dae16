import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { splitLines } from "../src/lines.js";
import { merkleLeafHash, verifyConsistency, verifyInclusion } from "../src/merkle.js";
import { growTree } from "../src/tree-edge.js";
import { verifyLines } from "../src/verify.js";
import { streamOf } from "./support.js";

interface Case {
  readonly name: string;
  readonly lines: readonly string[];
  readonly torn?: string;
  readonly want: { readonly ok: boolean };
}

function casesOf<T>(file: string): readonly T[] {
  const { cases } = JSON.parse(
    readFileSync(new URL(`../../../spec/vectors/${file}`, import.meta.url), "utf8"),
  ) as {
    readonly cases: readonly T[];
  };
  return cases;
}

const fileOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

describe("spec/vectors/audit.json", () => {
  it.each(casesOf<Case>("audit.json"))(
    "verifyAuditLog() finds $name",
    async ({ lines, torn = "", want }) => {
      expect(await verifyLines(splitLines(streamOf(fileOf(lines) + torn)))).toMatchObject(want);
    },
  );
});

interface RootCase {
  readonly kind: "root";
  readonly name: string;
  readonly lines: readonly string[];
  readonly want: { readonly root: string; readonly edge: readonly string[] };
}

interface InclusionCase {
  readonly kind: "inclusion";
  readonly name: string;
  readonly line: string;
  readonly index: number;
  readonly size: number;
  readonly root: string;
  readonly hashes: readonly string[];
  readonly want: { readonly ok: boolean };
}

interface ConsistencyCase {
  readonly kind: "consistency";
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly from_root: string;
  readonly to_root: string;
  readonly hashes: readonly string[];
  readonly want: { readonly ok: boolean };
}

interface LogCase {
  readonly kind: "log";
  readonly name: string;
  readonly lines: readonly string[];
  readonly notes: readonly string[];
  readonly verifier_keys: readonly string[];
  readonly origin: string;
  readonly want: {
    readonly ok: boolean;
    readonly verified?: number;
    readonly covered?: number;
    readonly code?: string;
    readonly line?: number;
    readonly bad_note?: number;
  };
}

const unhex = (text: string): Uint8Array => Buffer.from(text, "hex");
const checkpointCases = casesOf<RootCase | InclusionCase | ConsistencyCase | LogCase>(
  "checkpoints.json",
);
const ofKind = <K extends (typeof checkpointCases)[number]["kind"]>(
  kind: K,
): readonly Extract<(typeof checkpointCases)[number], { kind: K }>[] =>
  checkpointCases.filter((each): each is Extract<typeof each, { kind: K }> => each.kind === kind);

describe("spec/vectors/checkpoints.json", () => {
  it.each(ofKind("root"))("growTree() has $name", ({ lines, want }) => {
    const tree = growTree();
    for (const line of lines.map((text) => Buffer.from(text))) tree.add(line, 0, line.length);
    expect({ root: Buffer.from(tree.root()).toString("hex"), edge: tree.edge().hashes }).toEqual(
      want,
    );
  });

  it.each(ofKind("inclusion"))(
    "verifyInclusion(): $name",
    ({ line, index, size, root, hashes, want }) => {
      expect(
        verifyInclusion(merkleLeafHash(Buffer.from(line)), unhex(root), {
          index,
          size,
          hashes: hashes.map(unhex),
        }),
      ).toBe(want.ok);
    },
  );

  it.each(ofKind("consistency"))(
    "verifyConsistency(): $name",
    ({ from, to, from_root: fromRoot, to_root: toRoot, hashes, want }) => {
      expect(
        verifyConsistency(unhex(fromRoot), unhex(toRoot), { from, to, hashes: hashes.map(unhex) }),
      ).toBe(want.ok);
    },
  );

  it.each(ofKind("log"))(
    "verifyAuditLog() with checkpoints: $name",
    async ({ lines, notes, verifier_keys: verifierKeys, origin, want }) => {
      const { ok, firstBad, checkpoints } = await verifyLines(splitLines(streamOf(fileOf(lines))), {
        notes,
        verifierKeys,
        origin,
      });
      expect({
        ok,
        code: firstBad?.code,
        line: firstBad?.line,
        bad_note: checkpoints?.firstBad?.number,
      }).toEqual({
        ok: want.ok,
        code: want.code,
        line: want.line,
        bad_note: want.bad_note,
      });
      if (want.ok)
        expect(checkpoints).toMatchObject({ verified: want.verified, events: want.covered });
    },
  );

  it("has cases of every kind", () => {
    expect(
      ["root", "inclusion", "consistency", "log"].map((kind) =>
        checkpointCases.some((each) => each.kind === kind),
      ),
    ).toEqual([true, true, true, true]);
  });
});

/**
 * spec/vectors/passkey-proofs.json, and the program that made it. Python's view of the same file:
 * packages/core/test/docs-proof.test.ts.
 */
import { readFileSync } from "node:fs";
import { verifyConsentProof } from "@acp/core/proof";
import { describe, expect, it } from "vitest";
import { createPasskeyVerifier } from "../src/index.js";
import { type PasskeyCase, type PasskeyVectors, makePasskeyVectors } from "./passkey-vectors.js";

const read = (name: string): PasskeyVectors =>
  JSON.parse(
    readFileSync(new URL(`../../../spec/vectors/${name}`, import.meta.url), "utf8"),
  ) as PasskeyVectors;
const kept = read("passkey-proofs.json");
/** Proofs made before the payload had a type. */
const older = read("passkey-proofs-v1.json");
const made = makePasskeyVectors();

async function said({ record }: PasskeyCase, { passkeys }: PasskeyVectors): Promise<string> {
  const verifier = createPasskeyVerifier({ passkeys: () => passkeys.passkeys });
  const result = await verifyConsentProof(record.response, record.request, {
    trustedKeys: [],
    verifiers: [verifier],
  });
  return result.ok ? "ok" : result.code;
}

describe("spec/vectors/passkey-proofs.json", () => {
  it("holds the cases that its program makes", () => {
    const rows = ({ cases }: PasskeyVectors): readonly string[] =>
      cases.map(({ name, expect: want }) => `${name}: ${want}`);
    expect(rows(kept)).toEqual(rows(made));
  });

  it.each(kept.cases)("createPasskeyVerifier() says $expect: $name", async (row) => {
    expect(await said(row, kept)).toBe(row.expect);
  });

  it.each(made.cases)("the same with new keys: $name", async (row) => {
    expect(await said(row, made)).toBe(row.expect);
  });

  it.each(older.cases)(
    "createPasskeyVerifier() says $expect of an older proof: $name",
    async (row) => {
      expect(await said(row, older)).toBe(row.expect);
    },
  );
});

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { decodeRequest, type JsonObject } from "../src/index.js";
import { importPublicKey, keyPairFromSeed, signConsent, verifyConsentProof } from "../src/proof.js";
import { readRequest, readResponse } from "../src/proof/read.js";
import { makePayload } from "../src/proof/payload.js";
import { changed } from "./proof-kit.js";

interface Pair {
  readonly request: JsonObject;
  readonly response: JsonObject;
}

interface Case {
  readonly name: string;
  readonly record: string;
  readonly set?: Readonly<Record<string, unknown>>;
  readonly remove?: readonly string[];
  readonly now?: string;
  readonly trusted?: readonly {
    readonly key: string;
    readonly valid_from?: string;
    readonly valid_until?: string;
  }[];
  readonly expect: string;
}

interface Vectors {
  readonly keys: Readonly<Record<string, { readonly seed: string; readonly public_key: string }>>;
  readonly records: Readonly<Record<string, Pair & { readonly payload: string }>>;
  readonly cases: readonly Case[];
}

const read = (name: string): Vectors =>
  JSON.parse(
    readFileSync(new URL(`../../../spec/vectors/${name}`, import.meta.url), "utf8"),
  ) as Vectors;
const { keys, records, cases } = read("proofs.json");
/** Proofs made before the payload had a type: they are verified for good, and never made again. */
const older = read("proofs-v1.json");

const keyOf = (name: string): string => keys[name]?.public_key ?? "";
const time = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Date.parse(text);

async function said(vectors: Vectors, row: Case): Promise<string> {
  const { request, response } = edited(vectors, row);
  const now = time(row.now);
  const trustedKeys = (row.trusted ?? [{ key: "signer" }]).map(
    ({ key, valid_from, valid_until }) => {
      const [validFromMs, validUntilMs] = [time(valid_from), time(valid_until)];
      return {
        key: importPublicKey(keyOf(key)),
        ...(validFromMs === undefined ? {} : { validFromMs }),
        ...(validUntilMs === undefined ? {} : { validUntilMs }),
      };
    },
  );
  const result = await verifyConsentProof(response, request, {
    trustedKeys,
    ...(now === undefined ? {} : { now }),
  });
  return result.ok ? "ok" : result.code;
}

/** The record with the case's edits. */
function edited({ records: from }: Vectors, { record, set = {}, remove = [] }: Case): Pair {
  const { request, response } = from[record] ?? { request: {}, response: {} };
  let pair: JsonObject = { request, response };
  for (const [path, value] of Object.entries(set)) pair = changed(pair, path, value);
  for (const path of remove) pair = changed(pair, path, undefined);
  return pair as unknown as Pair;
}

describe("spec/vectors/proofs.json", () => {
  it.each(Object.entries(keys))("keyPairFromSeed() makes the key %s", (_, { seed, public_key }) => {
    expect(keyPairFromSeed(Buffer.from(seed, "hex")).publicKey).toBe(public_key);
  });

  it.each(Object.entries(records))(
    "makePayload() and signConsent() make the record: %s",
    async (name, { request, response, payload }) => {
      const asked = readRequest(request);
      const answered = readResponse(response);
      if ("ok" in asked || "ok" in answered) throw new Error(`${name} is malformed`);
      const made = makePayload(answered.response, {
        parameters: asked.request.action.parameters,
        requestHash: asked.hash,
      });
      expect(new TextDecoder().decode(made.bytes)).toBe(payload);
      const { reason, modifications, grantId, decision, approverId, channel } = answered.response;
      const seed = keys[name === "other key" ? "other" : "signer"]?.seed ?? "";
      const again = await signConsent(
        decodeRequest(request),
        {
          decision,
          approverId,
          channel,
          reason,
          nowMs: answered.givenAtMs,
          validUntilMs: answered.validUntilMs,
          ...(modifications === undefined ? {} : { modifications }),
          ...(grantId === undefined ? {} : { grantId }),
        },
        keyPairFromSeed(Buffer.from(seed, "hex")),
      );
      expect(again).toEqual(response);
    },
  );

  it.each(cases)("verifyConsentProof() says $expect: $name", async (row) => {
    expect(await said({ keys, records, cases }, row)).toBe(row.expect);
  });

  it("has a case for every code that one response can get", () => {
    const codes = new Set(cases.map((row) => row.expect));
    expect([...codes].sort()).toEqual(
      [
        "algorithm_refused",
        "approver_not_asked",
        "evidence_missing",
        "expired",
        "from_future",
        "hex_invalid",
        "hex_length",
        "hex_upper_case",
        "key_not_valid",
        "key_untrusted",
        "nonce_mismatch",
        "ok",
        "other_request",
        "outside_question",
        "payload_changed",
        "proof_malformed",
        "proof_missing",
        "request_changed",
        "request_malformed",
        "response_malformed",
        "signature_invalid",
      ].sort(),
    );
  });
});

describe("spec/vectors/proofs-v1.json", () => {
  it.each(Object.entries(older.records))(
    "makePayload() of version 1 makes what was signed: %s",
    (name, { request, response, payload }) => {
      const [asked, answered] = [readRequest(request), readResponse(response)];
      if ("ok" in asked || "ok" in answered) throw new Error(`${name} is malformed`);
      const question = { parameters: asked.request.action.parameters, requestHash: asked.hash };
      expect(new TextDecoder().decode(makePayload(answered.response, question, 1).bytes)).toBe(
        payload,
      );
    },
  );

  it.each(older.cases)("verifyConsentProof() says $expect: $name", async (row) => {
    expect(await said(older, row)).toBe(row.expect);
  });
});

import { describe, expect, it } from "vitest";
import { changed, givenAtMs, signed, trusted, validUntilMs } from "../../test/proof-kit.js";
import type { JsonObject } from "../json/value.js";
import { makeConsentRecord, verifyConsentRecord } from "./record.js";
import type { SignedParts } from "../consent-signer.js";

const trustedKeys = [trusted];

async function record(
  quorum: number,
  answers: readonly Partial<SignedParts>[],
): Promise<JsonObject> {
  const all = await Promise.all(answers.map((answer) => signed(answer, { quorum })));
  return makeConsentRecord(
    (await signed({}, { quorum })).request,
    all.map(({ response }) => response),
  );
}

describe("verifyConsentRecord()", () => {
  it("accepts one response, as object, text and bytes", async () => {
    const one = await record(1, [{}]);
    expect(Object.keys(one)).toEqual(["request", "response"]);
    const text = JSON.stringify(one);
    for (const input of [one, text, new TextEncoder().encode(text)])
      expect(await verifyConsentRecord(input, { trustedKeys })).toMatchObject({
        ok: true,
        decision: "approved",
        atMs: givenAtMs,
        validUntilMs,
      });
  });

  it("accepts a quorum, and says which person and until when", async () => {
    const two = await record(2, [
      {},
      { approverId: "bob", nowMs: givenAtMs + 1_000, validUntilMs: validUntilMs - 1_000 },
    ]);
    expect(Object.keys(two)).toEqual(["request", "responses"]);
    const result = await verifyConsentRecord(two, { trustedKeys });
    expect(result).toMatchObject({
      ok: true,
      atMs: givenAtMs + 1_000,
      validUntilMs: validUntilMs - 1_000,
    });
    expect(result.ok && result.consents.map(({ approverId }) => approverId)).toEqual([
      "alice",
      "bob",
    ]);
  });

  it("accepts one no against a quorum", async () => {
    expect(
      await verifyConsentRecord(await record(2, [{ decision: "denied" }]), { trustedKeys }),
    ).toMatchObject({
      ok: true,
      decision: "denied",
    });
  });

  it.each<readonly [string, string, readonly Partial<SignedParts>[]]>([
    ["fewer people than the quorum", "quorum_missing", [{}]],
    ["one person twice", "responses_differ", [{}, {}]],
    ["one person in two spellings", "responses_differ", [{}, { approverId: "Alice " }]],
    ["one person through two channels", "responses_differ", [{}, { channel: "web" }]],
    ["a yes and a no", "responses_differ", [{}, { approverId: "bob", decision: "denied" }]],
    ["nobody", "proof_missing", []],
    [
      "a yes that was over when the last one came",
      "expired",
      [{ validUntilMs: givenAtMs + 1 }, { approverId: "bob", nowMs: givenAtMs + 1 }],
    ],
  ])("refuses %s: %s", async (_, code, answers) => {
    expect(await verifyConsentRecord(await record(2, answers), { trustedKeys })).toMatchObject({
      ok: false,
      code,
    });
  });

  it("refuses a record of which one response is no good", async () => {
    const two = await record(2, [{}, { approverId: "bob" }]);
    const bad = changed(two, "responses.1.reason", "fine");
    expect(await verifyConsentRecord(bad, { trustedKeys })).toMatchObject({
      code: "payload_changed",
    });
  });

  it("refuses what is no record", async () => {
    const { request, response } = await signed();
    for (const input of [
      undefined,
      "",
      "[]",
      {},
      { request },
      { response },
      { request, response, responses: [response] },
      { request, responses: {} },
    ])
      expect(await verifyConsentRecord(input, { trustedKeys })).toMatchObject({
        ok: false,
        code: "response_malformed",
      });
  });

  it("asks about the moment that is asked about", async () => {
    const one = await record(1, [{}]);
    expect(await verifyConsentRecord(one, { trustedKeys, now: validUntilMs })).toMatchObject({
      code: "expired",
    });
    expect(await verifyConsentRecord(one, { trustedKeys, now: givenAtMs - 1 })).toMatchObject({
      code: "from_future",
    });
  });
});

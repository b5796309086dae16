import { describe, expect, it } from "vitest";
import {
  changed,
  givenAtMs,
  otherPair,
  pair,
  question,
  signed,
  trusted,
  validUntilMs,
} from "../../test/proof-kit.js";
import type { EvidenceVerifier } from "../ports.js";
import { verifyConsentProof } from "./verify.js";

const trustedKeys = [trusted];

describe("verifyConsentProof()", () => {
  it("accepts a signed yes: as objects, text and bytes", async () => {
    const { request, response } = await signed();
    const want = {
      ok: true,
      requestId: "cr_1",
      decision: "approved",
      approverId: "alice",
      channel: "terminal",
      publicKey: pair.publicKey,
      givenAtMs,
      validUntilMs,
      atMs: givenAtMs,
      quorum: 1,
    };
    expect(await verifyConsentProof(response, request, { trustedKeys })).toMatchObject(want);
    expect(
      await verifyConsentProof(JSON.stringify(response), JSON.stringify(request), { trustedKeys }),
    ).toMatchObject(want);
    const bytes = [response, request].map((each) => new TextEncoder().encode(JSON.stringify(each)));
    expect(await verifyConsentProof(bytes[0], bytes[1], { trustedKeys })).toMatchObject(want);
  });

  it("accepts a no, an edit, a reason and an offer that was taken", async () => {
    const offers = [
      { id: "o1", scope: { kind: "tool", server: "files", name: "write_file" }, ttlMs: 1_000 },
    ] as const;
    const cases = [
      await signed({ decision: "denied", reason: "not today" }),
      await signed({
        decision: "approved_with_modifications",
        modifications: { path: "b.txt", content: "" },
      }),
      await signed({ grantId: "o1" }, { offers }),
    ];
    for (const { request, response } of cases) {
      expect(await verifyConsentProof(response, request, { trustedKeys })).toMatchObject({
        ok: true,
        decision: response["decision"],
      });
    }
  });

  it("refuses a key twice in the text", async () => {
    const { request, response } = await signed();
    const text = JSON.stringify(response).replace(
      '"decision":"approved"',
      '"decision":"denied","decision":"approved"',
    );
    expect(await verifyConsentProof(text, request, { trustedKeys })).toMatchObject({
      code: "response_malformed",
    });
  });

  it("refuses what is no message at all", async () => {
    const { request, response } = await signed();
    for (const nothing of [undefined, null, 1, "", "[]", [], new Uint8Array()]) {
      expect(await verifyConsentProof(nothing, request, { trustedKeys })).toMatchObject({
        code: "response_malformed",
      });
      expect(await verifyConsentProof(response, nothing, { trustedKeys })).toMatchObject({
        code: "request_malformed",
      });
    }
    expect(await verifyConsentProof(response, question(), { trustedKeys })).toMatchObject({
      code: "request_malformed",
    });
  });

  it("never trusts the key that the proof brings", async () => {
    const { request, response } = await signed({}, {}, otherPair);
    expect(await verifyConsentProof(response, request, { trustedKeys })).toMatchObject({
      code: "key_untrusted",
    });
    expect(await verifyConsentProof(response, request, { trustedKeys: [] })).toMatchObject({
      code: "key_untrusted",
    });
  });

  it("asks whether the key was valid when the consent was given", async () => {
    const { request, response } = await signed();
    const { key } = trusted;
    const at = (validFromMs: number, untilMs: number) =>
      verifyConsentProof(response, request, {
        trustedKeys: [{ key, validFromMs, validUntilMs: untilMs }],
      });
    expect(await at(givenAtMs, givenAtMs + 1)).toMatchObject({ ok: true });
    expect(await at(givenAtMs + 1, givenAtMs + 2)).toMatchObject({ code: "key_not_valid" });
    expect(await at(givenAtMs - 1, givenAtMs)).toMatchObject({ code: "key_not_valid" });
    const again = [
      { key, validUntilMs: givenAtMs },
      { key, validFromMs: givenAtMs },
    ];
    expect(await verifyConsentProof(response, request, { trustedKeys: again })).toMatchObject({
      ok: true,
    });
  });

  it("answers for the moment asked about: before, during, after", async () => {
    const { request, response } = await signed();
    const at = (now: number) => verifyConsentProof(response, request, { trustedKeys, now });
    expect(await at(givenAtMs - 1)).toMatchObject({ code: "from_future" });
    expect(await at(givenAtMs)).toMatchObject({ ok: true, atMs: givenAtMs });
    expect(await at(validUntilMs - 1)).toMatchObject({ ok: true, atMs: validUntilMs - 1 });
    expect(await at(validUntilMs)).toMatchObject({ code: "expired" });
    for (const now of [Number.NaN, Infinity, -Infinity, 9e15])
      await expect(at(now)).rejects.toMatchObject({ code: "options_invalid" });
  });
});

describe("verifyConsentProof() with a verifier of another algorithm", () => {
  const verifier = (verify: EvidenceVerifier["verify"]): EvidenceVerifier => ({
    algorithm: "WebAuthn",
    verify,
  });
  const check = async (
    each: EvidenceVerifier,
    change: (response: object) => object = (response) => response,
  ) => {
    const { request, response } = await signed({}, { evidence: "passkey" });
    const passkey = change(changed(response, "proof", { algorithm: "WebAuthn", credential: "c1" }));
    return verifyConsentProof(passkey, request, { trustedKeys: [], verifiers: [each] });
  };

  it("takes its word for the signature", async () => {
    const yes = verifier((response, request) => {
      expect([response["proof"], request["id"]]).toEqual([
        { algorithm: "WebAuthn", credential: "c1" },
        "cr_1",
      ]);
      return Promise.resolve({ ok: true });
    });
    expect(await check(yes)).toMatchObject({ ok: true, publicKey: undefined });
  });

  it("refuses where it refuses, fails, or answers something else", async () => {
    const no = verifier(() => Promise.resolve({ ok: false, reason: "counter went back" }));
    expect(await check(no)).toMatchObject({
      code: "signature_invalid",
      message: expect.stringContaining("counter went back") as unknown,
    });
    const broken = verifier(() => Promise.reject(new Error("no metadata")));
    expect(await check(broken)).toMatchObject({ code: "signature_invalid" });
    const odd = verifier(() => Promise.resolve({ ok: 1 } as unknown as { ok: true }));
    expect(await check(odd)).toMatchObject({ code: "signature_invalid" });
  });

  it("still compares the request and the times itself", async () => {
    const yes = verifier(() => Promise.resolve({ ok: true }));
    expect(await check(yes, (response) => ({ ...response, nonce: "n_2" }))).toMatchObject({
      code: "nonce_mismatch",
    });
    expect(
      await check(yes, (response) => ({ ...response, timestamp: "2026-01-15T10:00:00.000Z" })),
    ).toMatchObject({
      code: "outside_question",
    });
  });
});

import { describe, expect, it } from "vitest";
import { encodeRequest } from "../approval/request-codec.js";
import { givenAtMs, otherPair, pair, question, trusted } from "../../test/proof-kit.js";
import { isConsentSigner } from "../consent-signer.js";
import { createConsentSigner } from "./consent-signer.js";
import { verifyConsentProof } from "./verify.js";

const parts = {
  decision: "approved",
  nowMs: givenAtMs,
  channel: "terminal",
  approverId: "alice",
} as const;

describe("createConsentSigner()", () => {
  it("signs an answer that anybody can verify", async () => {
    const signer = createConsentSigner(pair);
    const response = await signer.signAnswer(question(), parts);
    expect(
      await verifyConsentProof(response, encodeRequest(question()), { trustedKeys: [trusted] }),
    ).toMatchObject({ ok: true });
    expect(signer.publicKey).toBe(pair.publicKey);
  });

  it("signs with what it is given from then on, and says whose key that is", async () => {
    let now = pair;
    const signer = createConsentSigner(pair, () => Promise.resolve(now));
    expect(await signer.signAnswer(question(), parts)).toMatchObject({
      proof: { public_key: pair.publicKey },
    });
    now = otherPair;
    expect(await signer.signAnswer(question(), parts)).toMatchObject({
      proof: { public_key: otherPair.publicKey },
    });
    expect(signer.publicKey).toBe(otherPair.publicKey);
    const failing = createConsentSigner(pair, () => Promise.reject(new Error("no key")));
    await expect(failing.signAnswer(question(), parts)).rejects.toThrow("no key");
  });

  it.each([
    ["of another key", { ...otherPair, publicKey: pair.publicKey }],
    ["of other bytes", { ...pair, sign: () => pair.sign(new Uint8Array(1)) }],
  ])("hands out no signature %s", async (_, signer) => {
    await expect(createConsentSigner(signer).signAnswer(question(), parts)).rejects.toThrow(
      "the signer's signature does not match its key",
    );
  });

  it.each([pair.publicKey.toUpperCase(), "00".repeat(32), ""])(
    "refuses the public key %j",
    (publicKey) => {
      expect(() => createConsentSigner({ ...pair, publicKey })).toThrow(
        expect.objectContaining({ code: "key_rejected" }),
      );
    },
  );

  it("makes what only it can make, and nobody can change", () => {
    const signer = createConsentSigner(pair);
    expect(isConsentSigner(signer)).toBe(true);
    expect(isConsentSigner({ ...signer })).toBe(false);
    expect(Object.isFrozen(signer)).toBe(true);
  });
});

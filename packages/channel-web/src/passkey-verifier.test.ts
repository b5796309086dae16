import { encodeRequest, makeResponse, type ConsentRequest, type JsonObject } from "@acp/core";
import { consentPayload, verifyConsentProof, PAYLOAD_TYPE } from "@acp/core/proof";
import {
  createSoftwarePasskey,
  sampleRequest,
  type PasskeyAlgorithm,
  type SoftwarePasskeyTwist,
} from "@acp/testing";
import { describe, expect, it } from "vitest";
import type { Passkey } from "./passkey.js";
import { createPasskeyVerifier } from "./passkey-verifier.js";

const ORIGIN = "https://inbox.example.com";
const request: ConsentRequest = { ...sampleRequest(), evidence: "passkey" };
const wire = encodeRequest(request);
const givenAtMs = request.createdAtMs + 1_000;

/** An answer with a passkey's proof, and the passkey. */
function proven(
  options: {
    readonly algorithm?: PasskeyAlgorithm;
    readonly twist?: SoftwarePasskeyTwist;
    readonly approverId?: string;
  } = {},
) {
  const key = createSoftwarePasskey(ORIGIN, options.algorithm);
  const approverId = options.approverId ?? "ada";
  const response = makeResponse(request, {
    decision: "approved",
    nowMs: givenAtMs,
    channel: "web",
    approverId,
  });
  const { hash, requestHash } = consentPayload(response, wire);
  const challenge = Buffer.from(hash.slice("sha256:".length), "hex").toString("base64url");
  const { response: signed } = key.assert(
    { challenge, rpId: "inbox.example.com" },
    options.twist,
  ) as unknown as {
    readonly response: Readonly<
      Record<"authenticatorData" | "clientDataJSON" | "signature", string>
    >;
  };
  const proof: JsonObject = {
    algorithm: "WebAuthn",
    payload_type: PAYLOAD_TYPE,
    credential_id: key.id,
    authenticator_data: signed.authenticatorData,
    client_data_json: signed.clientDataJSON,
    signature: signed.signature,
    signed_payload_hash: hash,
    request_hash: requestHash,
  };
  const passkey: Passkey = {
    id: key.id,
    publicKey: key.publicKey,
    approver: "ada",
    rpId: "inbox.example.com",
    origins: [ORIGIN],
    label: "phone",
    createdAtMs: 0,
  };
  return { response: { ...response, proof }, passkey };
}

const verify = (response: JsonObject, passkeys: readonly Passkey[], asked: JsonObject = wire) =>
  verifyConsentProof(response, asked, {
    trustedKeys: [],
    verifiers: [createPasskeyVerifier({ passkeys: () => passkeys })],
  });

describe("createPasskeyVerifier()", () => {
  it.each(["ES256", "EdDSA", "RS256"] as const)(
    "proves a yes signed with %s, offline",
    async (algorithm) => {
      const { response, passkey } = proven({ algorithm });
      expect(await verify(response, [passkey])).toMatchObject({
        ok: true,
        approverId: "ada",
        decision: "approved",
        channel: "web",
      });
    },
  );

  it("proves nothing by a passkey of nobody, of another person, not made yet, or revoked", async () => {
    const { response, passkey } = proven();
    for (const passkeys of [
      [],
      [{ ...passkey, approver: "bob" }],
      [{ ...passkey, createdAtMs: givenAtMs + 1 }],
      [{ ...passkey, revokedAtMs: givenAtMs }],
      [{ ...passkey, origins: ["https://other.example.com"] }],
      [{ ...passkey, rpId: "example.com" }],
    ])
      expect(await verify(response, passkeys)).toMatchObject({
        ok: false,
        code: "signature_invalid",
      });
    expect(await verify(response, [{ ...passkey, revokedAtMs: givenAtMs + 1 }])).toMatchObject({
      ok: true,
    });
  });

  it("proves no consent that is used again once its passkey was revoked, whenever that was", async () => {
    const { response, passkey } = proven();
    const again = (revokedAtMs: number | undefined) =>
      createPasskeyVerifier({
        passkeys: () => [revokedAtMs === undefined ? passkey : { ...passkey, revokedAtMs }],
      }).verify(response, wire, [], {
        reuse: true,
      });
    expect(await again(undefined)).toEqual({ ok: true });
    expect(await again(givenAtMs + 1)).toEqual({ ok: false, reason: "the passkey was revoked" });
    expect(await again(Number.MAX_SAFE_INTEGER)).toEqual({
      ok: false,
      reason: "the passkey was revoked",
    });
  });

  it("proves nothing once anything of answer or question is another", async () => {
    const { response, passkey } = proven();
    const changes: readonly JsonObject[] = [
      { ...response, decision: "approved_with_modifications", modifications: { path: "b" } },
      { ...response, reason: "because" },
      { ...response, approver: { id: "ada", channel: "terminal" } },
      { ...response, timestamp: new Date(givenAtMs + 1).toISOString() },
      { ...response, confirmation: "YES" },
    ];
    for (const changed of changes)
      expect(await verify(changed, [passkey])).toMatchObject({ ok: false });
    expect(await verify(response, [passkey], { ...wire, text: "something else" })).toMatchObject({
      ok: false,
    });
  });

  it("proves nothing by an assertion without a person, from elsewhere, or for another answer", async () => {
    for (const twist of [
      { isVerified: false },
      { isPresent: false },
      { origin: "https://evil.example" },
      { challenge: "AAAA" },
      { isForged: true },
    ]) {
      const { response, passkey } = proven({ twist });
      expect(await verify(response, [passkey])).toMatchObject({
        ok: false,
        code: "signature_invalid",
      });
    }
    const one = proven();
    const other = proven({ approverId: "bob" });
    const replayed = {
      ...other.response,
      proof: { ...one.response.proof, credential_id: other.passkey.id },
    };
    expect(
      await verify(replayed, [other.passkey, { ...other.passkey, approver: "bob" }]),
    ).toMatchObject({ ok: false });
  });

  it("reads a proof strictly", async () => {
    const { response, passkey } = proven();
    const { proof } = response;
    for (const changed of [
      { ...proof, more: 1 },
      { ...proof, signature: `${String(proof["signature"])}=` },
      { ...proof, request_hash: "sha256:00" },
    ])
      expect(await verify({ ...response, proof: changed }, [passkey])).toMatchObject({ ok: false });
    const { signature: _, ...short } = proof;
    expect(await verify({ ...response, proof: short }, [passkey])).toMatchObject({ ok: false });
  });

  it("proves nothing where the passkeys cannot be read", async () => {
    const { response } = proven();
    const verifier = createPasskeyVerifier({
      passkeys: () => Promise.reject(new Error("no disk")),
    });
    expect(
      await verifyConsentProof(response, wire, { trustedKeys: [], verifiers: [verifier] }),
    ).toMatchObject({ ok: false });
  });
});

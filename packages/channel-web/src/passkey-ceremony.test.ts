import { randomBytes } from "node:crypto";
import {
  createSoftwarePasskey,
  type PasskeyAlgorithm,
  type SoftwarePasskey,
  type SoftwarePasskeyTwist,
} from "@acp/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Passkey } from "./passkey.js";
import { createPasskeyCeremony } from "./passkey-ceremony.js";

const ORIGIN = "http://localhost:8789";
const ALGORITHMS: readonly PasskeyAlgorithm[] = ["ES256", "EdDSA", "RS256"];
const ceremony = createPasskeyCeremony({ origin: ORIGIN, rpId: new URL(ORIGIN).hostname });
const newChallenge = (): string => randomBytes(32).toString("base64url");

async function registered(key: SoftwarePasskey, twist: SoftwarePasskeyTwist = {}) {
  const challenge = newChallenge();
  const options = await ceremony.makeRegistrationOptions({ approver: "ada", challenge, known: [] });
  return ceremony.checkRegistration({ registration: key.register(options, twist), challenge });
}

const passkeyOf = ({ id, publicKey }: SoftwarePasskey): Passkey => ({
  id,
  publicKey,
  approver: "ada",
  rpId: "localhost",
  origins: [ORIGIN],
  label: "test",
  createdAtMs: 0,
});

async function asserted(
  key: SoftwarePasskey,
  twist: SoftwarePasskeyTwist = {},
  passkeys: readonly Passkey[] = [passkeyOf(key)],
) {
  const challenge = newChallenge();
  const options = await ceremony.makeAssertionOptions({ challenge, allowed: passkeys });
  return ceremony.checkAssertion({ assertion: key.assert(options, twist), challenge, passkeys });
}

const BAD_FOR_BOTH: readonly (readonly [string, SoftwarePasskeyTwist])[] = [
  ["another origin", { origin: "http://localhost:8790" }],
  ["another site", { origin: "https://evil.example" }],
  ["another challenge", { challenge: newChallenge() }],
  ["another RP ID", { rpId: "evil.example" }],
  ["the other ceremony", { type: "payment.get" }],
  ["nobody present", { isPresent: false, isVerified: false }],
  ["nobody verified", { isVerified: false }],
];

describe("createPasskeyCeremony()", () => {
  it("asks for user verification, and for no authenticator twice", async () => {
    const known = [passkeyOf(createSoftwarePasskey(ORIGIN))];
    expect(
      await ceremony.makeRegistrationOptions({ approver: "ada", challenge: newChallenge(), known }),
    ).toMatchObject({
      rp: { id: "localhost" },
      user: { name: "ada" },
      attestation: "none",
      authenticatorSelection: { userVerification: "required" },
      excludeCredentials: [{ id: known[0]?.id }],
    });
    expect(
      await ceremony.makeAssertionOptions({ challenge: newChallenge(), allowed: known }),
    ).toMatchObject({
      rpId: "localhost",
      userVerification: "required",
      allowCredentials: [{ id: known[0]?.id }],
    });
  });

  it.each(ALGORITHMS)("takes a registration and an assertion of %s", async (algorithm) => {
    const key = createSoftwarePasskey(ORIGIN, algorithm);
    expect(await registered(key)).toEqual({ ok: true, id: key.id, publicKey: key.publicKey });
    expect(await asserted(key)).toMatchObject({
      ok: true,
      passkey: { id: key.id },
      signed: { credential_id: key.id },
    });
  });

  it.each(BAD_FOR_BOTH)("refuses %s", async (_, twist) => {
    const key = createSoftwarePasskey(ORIGIN);
    expect(await registered(key, twist)).toMatchObject({ ok: false });
    expect(await asserted(key, twist)).toMatchObject({ ok: false });
  });

  it("refuses an assertion out of a frame, a forged one, another key's and an unknown one's", async () => {
    const key = createSoftwarePasskey(ORIGIN);
    const other = createSoftwarePasskey(ORIGIN);
    expect(await asserted(key, { crossOrigin: true })).toMatchObject({
      ok: false,
      reason: "it was made in an embedded page",
    });
    expect(await asserted(key, { isForged: true })).toMatchObject({ ok: false });
    expect(
      await asserted(key, {}, [{ ...passkeyOf(key), publicKey: other.publicKey }]),
    ).toMatchObject({ ok: false });
    expect(await asserted(key, {}, [passkeyOf(other)])).toMatchObject({ ok: false });
  });

  it("never throws, and never says yes, whatever a field holds", async () => {
    const key = createSoftwarePasskey(ORIGIN);
    const challenge = newChallenge();
    const options = await ceremony.makeAssertionOptions({ challenge, allowed: [] });
    const good = key.assert(options);
    const fields = ["authenticatorData", "clientDataJSON", "signature"];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...fields),
        fc.oneof(fc.jsonValue(), fc.base64String(), fc.string()),
        async (field, value) => {
          const response = { ...(good["response"] as object), [field]: value };
          const assertion = JSON.parse(JSON.stringify({ ...good, response })) as typeof good;
          fc.pre(JSON.stringify(assertion) !== JSON.stringify(good));
          expect(
            await ceremony.checkAssertion({ assertion, challenge, passkeys: [passkeyOf(key)] }),
          ).toMatchObject({ ok: false });
          expect(
            await ceremony.checkRegistration({ registration: assertion, challenge }),
          ).toMatchObject({ ok: false });
        },
      ),
    );
  });

  it("refuses an assertion with one bit flipped in whatever is signed", async () => {
    const key = createSoftwarePasskey(ORIGIN);
    const challenge = newChallenge();
    const good = key.assert(await ceremony.makeAssertionOptions({ challenge, allowed: [] }));
    const response = good["response"] as Readonly<Record<string, string>>;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.keys(response)), fc.nat(), async (field, at) => {
        const bytes = Buffer.from(response[field] ?? "", "base64url");
        const bit = at % (bytes.length * 8);
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const assertion = {
          ...good,
          response: { ...response, [field]: bytes.toString("base64url") },
        };
        expect(
          await ceremony.checkAssertion({ assertion, challenge, passkeys: [passkeyOf(key)] }),
        ).toMatchObject({ ok: false });
      }),
    );
  });
});

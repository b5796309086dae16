/**
 * Passkeys as bare names: WebAuthn of a test that is about what the inbox does with it. The real
 * one is tested in passkey-*.test.ts.
 */
import { isJsonObject } from "@acp/core";
import type { Passkey, PasskeyCeremony } from "../src/passkey.js";
import { challengeOf } from "../src/challenges.js";
import { ORIGIN } from "./page.js";

export const passkeyOf = (approver: string, id: string = `key-of-${approver}`): Passkey => ({
  id,
  approver,
  publicKey: "AA",
  rpId: "localhost",
  origins: [ORIGIN],
  label: id,
  createdAtMs: 0,
});

/** What a browser would answer to options with this challenge, with the passkey of this id. */
export function answerTo({ challenge }: { readonly challenge: string }, id: string) {
  const clientDataJSON = Buffer.from(JSON.stringify({ challenge })).toString("base64url");
  return { id, response: { clientDataJSON, signature: "good" } };
}

/** Takes an answer with the right challenge and a good "signature". */
export const namedKeys = (): PasskeyCeremony => ({
  makeRegistrationOptions: async ({ challenge }) => ({ challenge }),
  checkRegistration: async ({ registration, challenge }) =>
    challengeOf(registration) === challenge && typeof registration["id"] === "string"
      ? { ok: true, id: registration["id"], publicKey: "AA" }
      : { ok: false, reason: "it is another challenge" },
  makeAssertionOptions: async ({ challenge, allowed }) => ({
    challenge,
    allowCredentials: allowed.map(({ id }) => ({ id })),
  }),
  async checkAssertion({ assertion, challenge, passkeys }) {
    const passkey = passkeys.find(({ id }) => id === assertion["id"]);
    const { response } = assertion;
    if (passkey === undefined) return { ok: false, reason: "it is another's passkey" };
    if (challengeOf(assertion) !== challenge)
      return { ok: false, reason: "it is another challenge" };
    if (!isJsonObject(response) || response["signature"] !== "good")
      return { ok: false, reason: "the signature is wrong" };
    return {
      ok: true,
      passkey,
      signed: {
        credential_id: passkey.id,
        authenticator_data: "AA",
        client_data_json: String(response["clientDataJSON"]),
        signature: "AA",
      },
    };
  },
});

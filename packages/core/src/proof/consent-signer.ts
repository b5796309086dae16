/**
 * The signer of a gate: a private key with a check behind it, since a proof that nobody can verify
 * would be found out too late.
 */
import { type ConsentSigner, markConsentSigner } from "../consent-signer.js";
import type { Signer } from "../types/keys.js";
import { importPublicKey } from "./keys.js";
import { signConsent } from "./sign.js";

/**
 * Makes a gate's signer: `createConsentGate({ signer: createConsentSigner(keys), … })`.
 *
 * @param signer - A key pair, or anything that signs with a key that it keeps. Each signature is
 *   verified before it counts.
 * @param renew - Called before each answer; returns what signs it and everything after it, for keys
 *   that are rotated while the gate runs.
 * @throws ConsentError `key_rejected` where its public key is not an accepted Ed25519 key.
 *
 * @example
 * ```ts
 * import { createConsentGate } from "@acp/core";
 * import { createConsentSigner, generateKeyPair } from "@acp/core/proof";
 *
 * const signer = createConsentSigner(generateKeyPair());
 * const gate = createConsentGate({ policy, channel, audit, signer });
 * ```
 */
export function createConsentSigner(signer: Signer, renew?: () => Promise<Signer>): ConsentSigner {
  let checked = checkedSigner(signer);
  const made: ConsentSigner = {
    get publicKey() {
      return checked.publicKey;
    },
    async signAnswer(request, parts) {
      if (renew !== undefined) checked = checkedSigner(await renew());
      return signConsent(request, parts, checked);
    },
  };
  markConsentSigner(made);
  return Object.freeze(made);
}

function checkedSigner(signer: Signer): Signer {
  const key = importPublicKey(signer.publicKey);
  return {
    algorithm: "Ed25519",
    publicKey: key.hex,
    async sign(payload) {
      const signature = await signer.sign(payload);
      if (!key.verifies(signature, payload))
        throw new Error("the signer's signature does not match its key");
      return signature;
    },
  };
}

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
export function createConsentSigner(signer: Signer): ConsentSigner {
  const key = importPublicKey(signer.publicKey);
  const checked: Signer = {
    algorithm: "Ed25519",
    publicKey: key.hex,
    async sign(payload) {
      const signature = await signer.sign(payload);
      if (!key.verifies(signature, payload))
        throw new Error("the signer's signature does not match its key");
      return signature;
    },
  };
  const made: ConsentSigner = {
    publicKey: key.hex,
    signAnswer: (request, parts) => signConsent(request, parts, checked),
  };
  markConsentSigner(made);
  return Object.freeze(made);
}

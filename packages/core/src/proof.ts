/**
 * "@acp/core/proof": keys, signing and verifying. Nothing of it is loaded by "@acp/core": a gate is
 * given its signer.
 */
export type { PublicKey, TrustedKey } from "./types/keys.js";
export type { ConsentSigner, SignedParts } from "./consent-signer.js";
export { createConsentSigner } from "./proof/consent-signer.js";
export { generateKeyPair, importPublicKey, keyPairFromSeed } from "./proof/keys.js";
export type { KeyPair } from "./proof/keys.js";
export { makeConsentRecord, verifyConsentRecord } from "./proof/record.js";
export type { ProvenRecord, RecordResult } from "./proof/record.js";
export type { ProofCode, ProofFailure, ProofResult, ProvenConsent } from "./proof/result.js";
export { consentPayload } from "./proof/payload-of.js";
export type { ConsentPayload } from "./proof/payload-of.js";
export { PAYLOAD_TYPE, readPayloadVersion } from "./proof/payload.js";
export type { Payload, PayloadVersion } from "./proof/payload.js";
export { signConsent } from "./proof/sign.js";
export { verifyConsentProof } from "./proof/verify.js";
export type { VerifyOptions } from "./proof/verify.js";

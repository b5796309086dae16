/** Keys: what signs, and what a verifier trusts. Types only. */

/** Signs with a private key that it keeps; `createConsentSigner` makes a gate's signer of it. */
export interface Signer {
  readonly algorithm: "Ed25519";
  /** 64 lower-case hex digits. */
  readonly publicKey: string;
  /**
   * The signature over these very bytes: 64 bytes.
   *
   * @throws Anything means "not signed": the gate denies with `signer_failed`.
   */
  sign(payload: Uint8Array): Promise<Uint8Array>;
}

/** A public key that was checked; made by {@link importPublicKey} alone. */
export interface PublicKey {
  /** 64 lower-case hex digits. */
  readonly hex: string;
  /** Whether the signature is this key's, by the strict rules. Never throws. */
  verifies(signature: Uint8Array, message: Uint8Array): boolean;
}

/** A key that the verifier trusts, and when. */
export interface TrustedKey {
  /** A key that was checked. */
  readonly key: PublicKey;
  /** Consents given before are not this key's to sign. */
  readonly validFromMs?: number;
  /** Nor are those given then or later. */
  readonly validUntilMs?: number;
}

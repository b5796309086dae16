/** Keys: what signs, and what a verifier trusts. Types only. */

/** Signs with a private key that it keeps; `createConsentSigner` makes a gate's signer of it. */
export interface Signer {
  readonly algorithm: "Ed25519";
  /** The public key: 64 lower-case hex digits. */
  readonly publicKey: string;
  /**
   * The signature over these very bytes: 64 bytes.
   *
   * @throws Anything means "not signed": the gate denies with `signer_failed`.
   */
  sign(payload: Uint8Array): Promise<Uint8Array>;
}

/** A public key that was checked; only `importPublicKey` makes one. */
export interface PublicKey {
  /** The key: 64 lower-case hex digits. */
  readonly hex: string;
  /**
   * Whether the signature over `message` is this key's, by strict rules (spec/proof.md §2). Never
   * throws.
   */
  verifies(signature: Uint8Array, message: Uint8Array): boolean;
}

/** A key that a verifier trusts, and for which time. */
export interface TrustedKey {
  /** The key, as {@link PublicKey}. */
  readonly key: PublicKey;
  /**
   * Consents given before this time are not accepted, in milliseconds since 1970; absent: no such
   * bound.
   */
  readonly validFromMs?: number;
  /**
   * Consents given at or after this time are not accepted, in milliseconds since 1970; absent: no
   * such bound.
   */
  readonly validUntilMs?: number;
}

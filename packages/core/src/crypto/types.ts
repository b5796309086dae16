/** Types that every backend of `#crypto` shares. */

/** A private key, imported once and kept. */
export interface Ed25519Signer {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** 64 bytes; the same for the same message (RFC 8032). */
  sign(message: Uint8Array): Uint8Array;
}

/**
 * A public key, checked and imported once and kept: whether the signature is the key's, by the
 * strict rules. Never throws.
 */
export type Ed25519Verifier = (signature: Uint8Array, message: Uint8Array) => boolean;

/** What sealing gives. */
export interface Sealed {
  readonly ciphertext: Uint8Array;
  /** 16 bytes. */
  readonly tag: Uint8Array;
}

/** What must be the same for sealing and opening. */
export interface SealTerms {
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** 12 bytes, never twice with one key. */
  readonly iv: Uint8Array;
  /** Bound to the ciphertext, not part of it; left out means none. */
  readonly aad?: Uint8Array;
}

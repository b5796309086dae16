/**
 * Keys: Ed25519 pairs that sign consents, and public keys that a verifier trusts. Written as 64
 * lower-case hex digits; nothing else is read. Which points are refused: crypto/ed25519-strict.ts.
 * Format: spec/proof.md §2.
 */
import { createEd25519Signer, createEd25519Verifier, randomBytes } from "#crypto";
import { KEY_BYTES } from "../crypto/ed25519-strict.js";
import { fromHex, toHex } from "../crypto/hex.js";
import { ConsentError } from "../errors.js";
import type { PublicKey, Signer } from "../types/keys.js";

/**
 * An Ed25519 key pair. Printing it shows nothing of the private key, which only a function holds.
 */
export interface KeyPair extends Signer {
  /** The private key: 32 bytes. Keep it sealed. */
  exportSeed(): Uint8Array;
}

/**
 * The key pair of a private key.
 *
 * @param seed - 32 bytes, copied.
 * @throws ConsentError `key_rejected` for any other length.
 */
export function keyPairFromSeed(seed: Uint8Array): KeyPair {
  const kept = Uint8Array.from(seed);
  const { publicKey, sign } = createEd25519Signer(kept);
  return Object.freeze({
    algorithm: "Ed25519",
    publicKey: toHex(publicKey),
    sign: (payload: Uint8Array) => Promise.resolve(sign(payload)),
    exportSeed: () => Uint8Array.from(kept),
  });
}

/** Makes a new Ed25519 key pair from the platform's secure random numbers. */
export function generateKeyPair(): KeyPair {
  return keyPairFromSeed(randomBytes(KEY_BYTES));
}

/**
 * Reads and checks a public key. Do it once and keep the result. Source: spec/proof.md §2.
 *
 * @param hex - 64 lower-case hex digits.
 * @throws ConsentError `key_rejected` for any other spelling or length, an encoding that is not
 *   canonical, bytes that are not a point on the curve, and points of low order.
 */
export function importPublicKey(hex: string): PublicKey {
  const bytes = typeof hex === "string" ? fromHex(hex) : undefined;
  if (bytes === undefined)
    throw new ConsentError(
      "key_rejected",
      "Cannot trust a public key: it is not written as lower-case hex",
    );
  return Object.freeze({ hex, verifies: createEd25519Verifier(bytes) });
}

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
 * A private key and its public one. The private part is in a function alone, so that printing a
 * pair shows nothing of it.
 */
export interface KeyPair extends Signer {
  /** The private key: 32 bytes, to be kept sealed. */
  exportSeed(): Uint8Array;
}

/**
 * A key pair from its private key.
 *
 * @throws ConsentError `key_rejected` unless the seed has 32 bytes.
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

/** A new key pair. */
export function generateKeyPair(): KeyPair {
  return keyPairFromSeed(randomBytes(KEY_BYTES));
}

/**
 * Reads a public key, once; keep what it returns.
 *
 * @param hex - 64 lower-case hex digits.
 * @throws ConsentError `key_rejected` for any other spelling or length, an encoding that is not
 *   canonical, bytes that are no point, and points of low order.
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

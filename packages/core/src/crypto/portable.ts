/** Portable crypto: what `#crypto` means outside Node. The same functions and bytes as node.ts. */
import { gcm } from "@noble/ciphers/aes.js";
import { ed25519 } from "@noble/curves/ed25519.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { concatBytes, randomBytes as drawBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { isStrictSignature, KEY_BYTES, requireStrictKey } from "./ed25519-strict.js";
import { toHex } from "./hex.js";
import {
  AES_IV_BYTES,
  AES_KEY_BYTES,
  AES_TAG_BYTES,
  requireHkdfSizes,
  requireLength,
  requireRandomSize,
} from "./lengths.js";
import type { Ed25519Signer, Ed25519Verifier, Sealed, SealTerms } from "./types.js";

/** SHA-256 of UTF-8 text or bytes, as 64 lower-case hex digits. */
export function sha256Hex(input: string | Uint8Array): string {
  return toHex(sha256(typeof input === "string" ? utf8ToBytes(input) : input));
}

/** A random UUID (RFC 9562, version 4): 122 random bits. */
export function randomId(): string {
  const bytes = drawBytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = toHex(bytes);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Random bytes for keys, salts and initialisation vectors: 1 to 65,536 at a time. */
export function randomBytes(length: number): Uint8Array {
  requireRandomSize(length);
  return drawBytes(length);
}

/** Whether two byte strings are the same, in a time that depends on their lengths alone. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (const [at, byte] of left.entries()) difference |= byte ^ (right[at] ?? 0);
  return difference === 0;
}

/** HMAC-SHA256 (RFC 2104): 32 bytes. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  return hmac(sha256, key, message);
}

/** HKDF-SHA256 (RFC 5869). */
export function hkdfSha256(
  ikm: Uint8Array,
  {
    salt,
    info,
    length,
  }: { readonly salt: Uint8Array; readonly info: Uint8Array; readonly length: number },
): Uint8Array {
  requireHkdfSizes(info, length);
  return hkdf(sha256, ikm, salt, info, length);
}

/**
 * AES-256-GCM.
 *
 * @throws ConsentError `key_rejected` where key or iv have another length.
 */
export function aes256GcmSeal({ key, iv, aad }: SealTerms, plaintext: Uint8Array): Sealed {
  requireLength("an AES-256 key", key, AES_KEY_BYTES);
  requireLength("an AES-GCM iv", iv, AES_IV_BYTES);
  const sealed = gcm(key, iv, aad).encrypt(plaintext);
  return { ciphertext: sealed.slice(0, -AES_TAG_BYTES), tag: sealed.slice(-AES_TAG_BYTES) };
}

/**
 * The plaintext, or `undefined` where anything is not as it was sealed, an iv or tag of another
 * length included.
 *
 * @throws ConsentError `key_rejected` where the key has another length.
 */
export function aes256GcmOpen(
  { key, iv, aad }: SealTerms,
  { ciphertext, tag }: Sealed,
): Uint8Array | undefined {
  requireLength("an AES-256 key", key, AES_KEY_BYTES);
  if (iv.length !== AES_IV_BYTES || tag.length !== AES_TAG_BYTES) return undefined;
  const cipher = gcm(key, iv, aad);
  try {
    return cipher.decrypt(concatBytes(ciphertext, tag));
  } catch {
    return undefined;
  }
}

/**
 * A private key from its seed (32 bytes).
 *
 * @throws ConsentError `key_rejected` where the seed has another length.
 */
export function createEd25519Signer(seed: Uint8Array): Ed25519Signer {
  requireLength("an Ed25519 seed", seed, KEY_BYTES);
  const kept = seed.slice();
  return Object.freeze({
    publicKey: ed25519.getPublicKey(kept),
    sign: (message: Uint8Array) => ed25519.sign(message, kept),
  });
}

/**
 * A public key, kept decoded.
 *
 * @throws ConsentError `key_rejected` where the strict rules refuse it.
 */
export function createEd25519Verifier(publicKey: Uint8Array): Ed25519Verifier {
  requireStrictKey(publicKey);
  const kept = publicKey.slice();
  // Not taken apart where the module is loaded: a bundler could then leave no curve out of a
  // program that never verifies.
  const { Point } = ed25519;
  const point = Point.fromBytes(kept, false);
  return (signature, message) => {
    if (!isStrictSignature(signature)) return false;
    const r = signature.subarray(0, KEY_BYTES);
    const s = fromLittleEndian(signature.subarray(KEY_BYTES));
    const k = Point.Fn.create(fromLittleEndian(sha512(concatBytes(r, kept, message))));
    // The library's own check multiplies by the cofactor; Node's does not. This one is Node's.
    return equalBytes(Point.BASE.multiplyUnsafe(s).subtract(point.multiplyUnsafe(k)).toBytes(), r);
  };
}

function fromLittleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes.toReversed())}`);
}

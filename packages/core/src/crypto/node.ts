/** Native crypto: what `#crypto` means on Node. The same functions and bytes as portable.ts. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  hash,
  hkdfSync,
  randomFillSync,
  randomUUID,
  sign,
  timingSafeEqual,
  verify,
} from "node:crypto";
import { isStrictSignature, KEY_BYTES, requireStrictKey } from "./ed25519-strict.js";
import {
  AES_IV_BYTES,
  AES_KEY_BYTES,
  AES_TAG_BYTES,
  requireHkdfSizes,
  requireLength,
  requireRandomSize,
} from "./lengths.js";
import type { Ed25519Signer, Ed25519Verifier, Sealed, SealTerms } from "./types.js";

/** DER around a raw seed and a raw public key (RFC 8410 §7 and §4). */
const PKCS8_HEAD = Uint8Array.of(
  0x30,
  0x2e,
  0x02,
  0x01,
  0x00,
  0x30,
  0x05,
  0x06,
  0x03,
  0x2b,
  0x65,
  0x70,
  0x04,
  0x22,
  0x04,
  0x20,
);
const SPKI_HEAD = Uint8Array.of(
  0x30,
  0x2a,
  0x30,
  0x05,
  0x06,
  0x03,
  0x2b,
  0x65,
  0x70,
  0x03,
  0x21,
  0x00,
);

/** SHA-256 of UTF-8 text or bytes, as 64 lower-case hex digits. */
export function sha256Hex(input: string | Uint8Array): string {
  return hash("sha256", input, "hex");
}

/** A random UUID (RFC 9562, version 4): 122 random bits. */
export function randomId(): string {
  return randomUUID();
}

/** Random bytes for keys, salts and initialisation vectors: 1 to 65,536 at a time. */
export function randomBytes(length: number): Uint8Array {
  requireRandomSize(length);
  return randomFillSync(new Uint8Array(length));
}

/** Whether two byte strings are the same, in a time that depends on their lengths alone. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}

/** HMAC-SHA256 (RFC 2104): 32 bytes. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  return plain(createHmac("sha256", key).update(message).digest());
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
  return new Uint8Array(hkdfSync("sha256", ikm, salt, info, length));
}

/**
 * AES-256-GCM.
 *
 * @throws ConsentError `key_rejected` where key or iv have another length.
 */
export function aes256GcmSeal({ key, iv, aad }: SealTerms, plaintext: Uint8Array): Sealed {
  requireLength("an AES-256 key", key, AES_KEY_BYTES);
  requireLength("an AES-GCM iv", iv, AES_IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: AES_TAG_BYTES });
  if (aad !== undefined) cipher.setAAD(aad);
  const ciphertext = plain(cipher.update(plaintext));
  cipher.final();
  return { ciphertext, tag: plain(cipher.getAuthTag()) };
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
  const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: AES_TAG_BYTES });
  if (aad !== undefined) decipher.setAAD(aad);
  decipher.setAuthTag(tag);
  const plaintext = plain(decipher.update(ciphertext));
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return plaintext;
}

/**
 * A private key from its seed (32 bytes), kept imported: importing takes longer than signing.
 *
 * @throws ConsentError `key_rejected` where the seed has another length.
 */
export function createEd25519Signer(seed: Uint8Array): Ed25519Signer {
  requireLength("an Ed25519 seed", seed, KEY_BYTES);
  const privateKey = createPrivateKey({ key: der(PKCS8_HEAD, seed), format: "der", type: "pkcs8" });
  const spki = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  return Object.freeze({
    publicKey: Uint8Array.from(spki.subarray(-KEY_BYTES)),
    sign: (message: Uint8Array) => plain(sign(null, message, privateKey)),
  });
}

/**
 * A public key, kept imported.
 *
 * @throws ConsentError `key_rejected` where the strict rules refuse it.
 */
export function createEd25519Verifier(publicKey: Uint8Array): Ed25519Verifier {
  requireStrictKey(publicKey);
  const key = createPublicKey({ key: der(SPKI_HEAD, publicKey), format: "der", type: "spki" });
  return (signature, message) =>
    isStrictSignature(signature) && verify(null, message, key, signature);
}

function der(head: Uint8Array, key: Uint8Array): Buffer {
  return Buffer.concat([head, key]);
}

/** A Buffer's bytes without its methods: other backends have none of them. */
function plain(bytes: Buffer): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

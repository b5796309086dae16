/**
 * Sealed fields: one value of a configuration file as `encrypted:<base64url>`, bound to its place:
 * moved to another field it does not open. Format: spec/vault.md §5. Vectors:
 * spec/vectors/vault.json.
 */
import { aes256GcmOpen, aes256GcmSeal, hkdfSha256, randomBytes } from "#crypto";
import { KEY_BYTES } from "../crypto/ed25519-strict.js";
import { AES_IV_BYTES, AES_KEY_BYTES, AES_TAG_BYTES, requireLength } from "../crypto/lengths.js";
import { ConsentError } from "../errors.js";
import { fromBase64Url, toBase64, URL_SAFE } from "./base64.js";

/** The prefix of a sealed field. */
export const SEALED_FIELD = "encrypted:";

const encoder = new TextEncoder();
const INFO = encoder.encode("acp/config/v1");
const NO_SALT = new Uint8Array(0);

/**
 * Seals a value for one field of the configuration. Format: spec/vault.md §5.
 *
 * @param path - The field, e.g. `telegram.bot_token`; the value opens in this field only.
 * @param seed - The 32 bytes of the Ed25519 private key.
 * @throws ConsentError `key_rejected` for a seed of another length.
 */
export function sealField(value: string, path: string, seed: Uint8Array): string {
  return sealFieldWith(value, path, { seed, iv: randomBytes(AES_IV_BYTES) });
}

/**
 * As {@link sealField}, with a given iv: for test vectors. Two seals with the same iv give both
 * away.
 */
export function sealFieldWith(
  value: string,
  path: string,
  { seed, iv }: { readonly seed: Uint8Array; readonly iv: Uint8Array },
): string {
  const { ciphertext, tag } = aes256GcmSeal(
    { key: fieldKey(seed), iv, aad: encoder.encode(path) },
    encoder.encode(value),
  );
  const bytes = new Uint8Array(iv.length + ciphertext.length + tag.length);
  bytes.set(iv);
  bytes.set(ciphertext, iv.length);
  bytes.set(tag, iv.length + ciphertext.length);
  return SEALED_FIELD + toBase64(bytes, URL_SAFE);
}

/** Whether a text starts as a sealed field does; it may still not open. */
export function isSealedField(text: string): boolean {
  return text.startsWith(SEALED_FIELD);
}

/**
 * The value of a sealed field.
 *
 * @throws ConsentError `vault_invalid`, the same for another key, another field and a changed
 *   character; `key_rejected` for a seed that does not have 32 bytes.
 */
export function openField(text: string, path: string, seed: Uint8Array): string {
  const bytes = isSealedField(text) ? fromBase64Url(text.slice(SEALED_FIELD.length)) : undefined;
  if (bytes === undefined || bytes.length < AES_IV_BYTES + AES_TAG_BYTES) throw unopened();
  const sealed = {
    ciphertext: bytes.subarray(AES_IV_BYTES, -AES_TAG_BYTES),
    tag: bytes.subarray(-AES_TAG_BYTES),
  };
  const plaintext = aes256GcmOpen(
    { key: fieldKey(seed), iv: bytes.subarray(0, AES_IV_BYTES), aad: encoder.encode(path) },
    sealed,
  );
  if (plaintext === undefined) throw unopened();
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(plaintext);
}

function fieldKey(seed: Uint8Array): Uint8Array {
  requireLength("an Ed25519 seed", seed, KEY_BYTES);
  return hkdfSha256(seed, { salt: NO_SALT, info: INFO, length: AES_KEY_BYTES });
}

function unopened(): ConsentError {
  return new ConsentError(
    "vault_invalid",
    "Cannot open an encrypted field: the key is not the one it was encrypted with, or the field was changed or moved",
  );
}

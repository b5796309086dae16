/**
 * Sealed vaults: secrets as encrypted text, and back. Pure over texts; whoever keeps the text keeps
 * it private and in one piece. One error, in the same words, for another key and for any changed
 * byte. Format: spec/vault.md §3. Vectors: spec/vectors/vault.json.
 */
import { aes256GcmOpen, aes256GcmSeal, hkdfSha256, randomBytes } from "#crypto";
import { AES_IV_BYTES, AES_KEY_BYTES, requireLength } from "../crypto/lengths.js";
import { KEY_BYTES } from "../crypto/ed25519-strict.js";
import { fromHex, toHex } from "../crypto/hex.js";
import { readFields } from "../approval/fields.js";
import { ConsentError } from "../errors.js";
import { canonicalJson } from "../json/canonical.js";
import { parseJson } from "../json/parse.js";
import { isJsonObject } from "../json/value.js";
import type { JsonValue } from "../json/value.js";
import { SECRET_BYTES_MAX, VAULT_BYTES_MAX } from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { revealSecret, Secret } from "./secret.js";

/** The contents of an opened vault. */
export interface VaultContents {
  /**
   * How often it was saved: 1 for the first save. A number below the one that was noted means that
   * an older vault was put back.
   */
  readonly counter: number;
  /** Its secrets, sorted by name; each name is there once. */
  readonly secrets: readonly Secret[];
}

/** Randomness of one seal: never used twice. */
export interface SealNonces {
  readonly salt: Uint8Array;
  readonly iv: Uint8Array;
}

const encoder = new TextEncoder();
const INFO = encoder.encode("acp/vault/v1");
const SALT_BYTES = 32;
/** The one way to write it, byte for byte: what is not exactly this was changed. */
const TEXT =
  /^\{\n {2}"version": 1,\n {2}"encryption": "aes-256-gcm",\n {2}"salt": "([0-9a-f]{64})",\n {2}"iv": "([0-9a-f]{24})",\n {2}"data": "([0-9a-f]*)",\n {2}"tag": "([0-9a-f]{32})"\n\}\n$/;

/**
 * Seals secrets under a fresh salt and initialization vector. Format: spec/vault.md §3.
 *
 * @param seed - The 32 bytes of the Ed25519 private key.
 * @throws ConsentError `secret_invalid` where a name is there twice, the counter is not a whole
 *   number from 1, or the contents have more than 256 KiB; `key_rejected` for a seed of another
 *   length.
 */
export function sealVault(contents: VaultContents, seed: Uint8Array): string {
  return sealVaultWith(contents, seed, {
    salt: randomBytes(SALT_BYTES),
    iv: randomBytes(AES_IV_BYTES),
  });
}

/**
 * As {@link sealVault}, with given nonces: for test vectors. Two seals with the same nonces give
 * both away.
 */
export function sealVaultWith(
  contents: VaultContents,
  seed: Uint8Array,
  { salt, iv }: SealNonces,
): string {
  const { ciphertext, tag } = aes256GcmSeal(
    { key: vaultKey(seed, salt), iv },
    encoder.encode(encodeContents(contents)),
  );
  const fields = {
    version: 1,
    encryption: "aes-256-gcm",
    salt: toHex(salt),
    iv: toHex(iv),
    data: toHex(ciphertext),
    tag: toHex(tag),
  };
  return `${JSON.stringify(fields, undefined, 2)}\n`;
}

/**
 * Opens what {@link sealVault} sealed.
 *
 * @throws ConsentError `vault_invalid`, the same for another key and for any change; `key_rejected`
 *   for a seed that does not have 32 bytes.
 */
export function openVault(text: string, seed: Uint8Array): VaultContents {
  const [salt, iv, ciphertext, tag] = (TEXT.exec(text) ?? []).slice(1).map(fromHex);
  if (salt === undefined || iv === undefined || ciphertext === undefined || tag === undefined)
    throw unopened();
  const plaintext = aes256GcmOpen({ key: vaultKey(seed, salt), iv }, { ciphertext, tag });
  if (plaintext === undefined) throw unopened();
  try {
    return decodeContents(parseJson(plaintext));
  } catch {
    // sealed under this key by something that is not us; its error could show a value
    throw unopened();
  }
}

/** The one answer for everything that does not open. */
export function unopened(): ConsentError {
  return new ConsentError(
    "vault_invalid",
    "Cannot open the vault: the key is wrong, or the vault was changed",
  );
}

function vaultKey(seed: Uint8Array, salt: Uint8Array): Uint8Array {
  requireLength("an Ed25519 seed", seed, KEY_BYTES);
  return hkdfSha256(seed, { salt, info: INFO, length: AES_KEY_BYTES });
}

function encodeContents({ counter, secrets }: VaultContents): string {
  if (!isCounter(counter)) throw unsealed("its counter is not a whole number from 1");
  const entries = new Map<string, JsonValue>();
  for (const secret of secrets) {
    const { name, servers, hosts } = secret;
    if (entries.has(name)) throw unsealed(`the secret ${quote(name)} appears twice`);
    entries.set(name, { value: revealSecret(secret), servers, hosts });
  }
  const text = canonicalJson({ counter, secrets: Object.fromEntries(entries) });
  if (encoder.encode(text).length > VAULT_BYTES_MAX)
    throw unsealed(`it has more than ${VAULT_BYTES_MAX} bytes`);
  return text;
}

function decodeContents(json: JsonValue): VaultContents {
  const fields = readFields(json, "vault");
  const counter = fields.integer("counter", 1, Number.MAX_SAFE_INTEGER);
  const entries = fields.raw("secrets");
  fields.done();
  if (!isJsonObject(entries)) throw unopened();
  const secrets = Object.keys(entries)
    .sort()
    .map((name) => decodeSecret(name, entries[name] ?? null));
  return Object.freeze({ counter, secrets: Object.freeze(secrets) });
}

function decodeSecret(name: string, json: JsonValue): Secret {
  const fields = readFields(json, "secret");
  const secret = new Secret({
    name,
    value: fields.text("value", SECRET_BYTES_MAX),
    servers: fields.texts("servers"),
    hosts: fields.texts("hosts"),
  });
  fields.done();
  return secret;
}

function isCounter(counter: number): boolean {
  return Number.isSafeInteger(counter) && counter >= 1;
}

function unsealed(why: string): ConsentError {
  return new ConsentError("secret_invalid", `Cannot seal the vault: ${why}`);
}

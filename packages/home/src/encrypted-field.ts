/**
 * Encrypted fields: values of `config.yml` that are written `encrypted:<…>`, each sealed for its
 * own place. Format: spec/vault.md §5.
 */
import { ConsentError, POLICY_BYTES_MAX, quoteText } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import { isSealedField, openField, sealField } from "@acp/core/vault";
import { printPath, readYaml, type Spot } from "@acp/core/yaml";
import { writeFileAtomic } from "./atomic.js";
import { hasErrno } from "./errors.js";
import type { HomePaths } from "./paths.js";
import { readOwnFile } from "./text-file.js";

/**
 * Returns the value of a configuration field, decrypted if it is encrypted. Format: spec/vault.md
 * §5.
 *
 * @param field - Path as spec/home.md writes it, such as `telegram.bot_token` or
 * `proxy.upstream_servers[0].env.TOKEN`.
 * @param keys - Keys of the home; `undefined` if it has none.
 * @throws ConsentError `vault_invalid` if the value does not open; `key_locked` if it is encrypted
 * and there are no keys.
 */
export function openConfigField(text: string, field: string, keys: KeyPair | undefined): string {
  if (!isSealedField(text)) return text;
  if (keys === undefined)
    throw new ConsentError(
      "key_locked",
      `Cannot open the encrypted field ${quoteText(field)}: this home has no keys; run: acp init`,
    );
  try {
    return openField(text, field, keys.exportSeed());
  } catch (cause) {
    throw cannotOpen(field, cause);
  }
}

function cannotOpen(field: string, cause?: unknown): ConsentError {
  const message = `Cannot open the encrypted field ${quoteText(field)}: the key is not the one it was encrypted with, or the field was changed or moved`;
  return new ConsentError("vault_invalid", message, { cause });
}

/** Every text in a configuration that says that it is encrypted. */
export function* encryptedSpots(at: Spot): Generator<Spot & { readonly value: string }> {
  const { value, path } = at;
  if (typeof value === "string") {
    if (isSealedField(value)) yield { ...at, value };
  } else if (typeof value === "object" && value !== null) {
    const isList = Array.isArray(value);
    for (const [key, member] of Object.entries(value))
      yield* encryptedSpots({ ...at, value: member, path: [...path, isList ? Number(key) : key] });
  }
}

/**
 * Finds every encrypted field in the text of a configuration.
 *
 * @returns The encrypted values, by path.
 * @throws ConsentError `config_invalid` if the text cannot be read as YAML.
 */
export function findEncryptedFields(text: string): ReadonlyMap<string, string> {
  const root = readYaml(text, { name: "config", code: "config_invalid" });
  return new Map([...encryptedSpots(root)].map(({ path, value }) => [printPath(path), value]));
}

/**
 * Returns the text with every encrypted field sealed for another key. Everything else stays as it
 * is, comments included, and so do fields that the new key opens already.
 *
 * @throws ConsentError `vault_invalid`, naming a field that neither key opens; `config_invalid` for
 * an encrypted value that is written across several lines.
 */
export function resealFields(text: string, from: KeyPair, to: KeyPair): string {
  let resealed = text;
  for (const [path, sealed] of findEncryptedFields(text)) {
    if (opens(sealed, path, to)) continue;
    checkField(text, { path, sealed }, from);
    const value = openField(sealed, path, from.exportSeed());
    resealed = resealed.replaceAll(sealed, sealField(value, path, to.exportSeed()));
  }
  return resealed;
}

function checkField(
  text: string,
  { path, sealed }: { readonly path: string; readonly sealed: string },
  keys: KeyPair,
): void {
  if (!opens(sealed, path, keys)) throw cannotOpen(path);
  if (!text.includes(sealed))
    throw new ConsentError(
      "config_invalid",
      `Cannot replace the encrypted field ${quoteText(path)}: its value spans several lines; write it on one line`,
    );
}

function opens(sealed: string, path: string, keys: KeyPair): boolean {
  try {
    openField(sealed, path, keys.exportSeed());
    return true;
  } catch {
    return false;
  }
}

/** Throws what {@link resealConfigFile} would throw, and changes nothing. */
export async function checkConfigFile(home: HomePaths, keys: KeyPair): Promise<void> {
  const text = await readConfigText(home);
  if (text === undefined) return;
  for (const [path, sealed] of findEncryptedFields(text)) checkField(text, { path, sealed }, keys);
}

/** {@link resealFields} for the home's `config.yml`. To be called while the home is locked. */
export async function resealConfigFile(home: HomePaths, from: KeyPair, to: KeyPair): Promise<void> {
  const text = await readConfigText(home);
  const resealed = text === undefined ? undefined : resealFields(text, from, to);
  if (resealed !== undefined && resealed !== text) await writeFileAtomic(home.configPath, resealed);
}

/** A home works without the file: `undefined` then. */
async function readConfigText({ configPath }: HomePaths): Promise<string | undefined> {
  try {
    return (await readOwnFile(configPath, POLICY_BYTES_MAX)).text;
  } catch (error) {
    if (error instanceof ConsentError && hasErrno(error.cause, "ENOENT")) return undefined;
    throw error;
  }
}

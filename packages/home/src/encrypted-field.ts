/**
 * Encrypted fields: values of `config.yml` that are written `encrypted:<…>`, each sealed for its own place. Format: spec/vault.md §5.
 */
import { ConsentError, type JsonValue, POLICY_BYTES_MAX, quoteText } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import { isSealedField, openField, sealField } from "@acp/core/vault";
import { printPath, readYaml } from "@acp/core/yaml";
import { writeFileAtomic } from "./atomic.js";
import type { HomePaths } from "./paths.js";
import { readOwnFile } from "./text-file.js";

/**
 * The value of a field of the configuration, opened where it is encrypted.
 *
 * @param path - As spec/home.md writes it, e.g. `telegram.bot_token` or `proxy.upstream_servers[0].env.TOKEN`.
 * @throws ConsentError `vault_invalid` where it does not open.
 */
export function openConfigField(text: string, path: string, keys: KeyPair): string {
  return isSealedField(text) ? openField(text, path, keys.exportSeed()) : text;
}

/** Every encrypted field of a configuration's text, by path. */
export function findEncryptedFields(text: string): ReadonlyMap<string, string> {
  const { value } = readYaml(text, { name: "config", code: "config_invalid" });
  const found = new Map<string, string>();
  const walk = (at: JsonValue, path: readonly (string | number)[]): void => {
    if (typeof at === "string") {
      if (isSealedField(at)) found.set(printPath(path), at);
    } else if (typeof at === "object" && at !== null) {
      const isList = Array.isArray(at);
      for (const [key, member] of Object.entries(at)) walk(member, [...path, isList ? Number(key) : key]);
    }
  };
  walk(value, []);
  return found;
}

/**
 * The text with every encrypted field sealed for another key; the rest, comments too, stays as it is. Fields that the new key opens are left alone.
 *
 * @throws ConsentError `vault_invalid` naming a field that neither key opens; `config_invalid` for one that is not written in one piece.
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

function checkField(text: string, { path, sealed }: { readonly path: string; readonly sealed: string }, keys: KeyPair): void {
  const field = quoteText(path);
  if (!opens(sealed, path, keys))
    throw new ConsentError("vault_invalid", `Cannot open the encrypted field ${field}: the key is another one, or it was changed or moved`);
  if (!text.includes(sealed)) throw new ConsentError("config_invalid", `Cannot replace the encrypted field ${field}: write it in one line`);
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
export async function checkConfigFile({ configPath }: HomePaths, keys: KeyPair): Promise<void> {
  const { text } = await readOwnFile(configPath, POLICY_BYTES_MAX);
  for (const [path, sealed] of findEncryptedFields(text)) checkField(text, { path, sealed }, keys);
}

/** {@link resealFields} for the home's `config.yml`. To be called while the home is locked. */
export async function resealConfigFile({ configPath }: HomePaths, from: KeyPair, to: KeyPair): Promise<void> {
  const { text } = await readOwnFile(configPath, POLICY_BYTES_MAX);
  const resealed = resealFields(text, from, to);
  if (resealed !== text) await writeFileAtomic(configPath, resealed);
}

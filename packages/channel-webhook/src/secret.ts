/**
 * Secrets of Standard Webhooks: `whsec_` and the base64 of 24 to 64 random bytes. No error shows
 * one.
 */
import { ConsentError } from "@acp/core";

const FORM = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const KEY_BYTES_MIN = 24;
const KEY_BYTES_MAX = 64;
/** Secrets in force at once: the new one and those that are being retired. */
const SECRETS_MAX = 8;

function refuse(index: number, why: string): never {
  throw new ConsentError("options_invalid", `Cannot read webhook secret ${index + 1}: ${why}`);
}

function readKey(secret: string, index: number): Uint8Array {
  const base64 = typeof secret === "string" ? FORM.exec(secret)?.[1] : undefined;
  if (base64 === undefined) return refuse(index, "it is not whsec_ followed by base64");
  const key = Buffer.from(base64, "base64");
  // Another spelling of the same bytes, or a truncated one, would verify here and nowhere else.
  if (key.toString("base64") !== base64) return refuse(index, "its base64 is not canonical");
  if (key.length < KEY_BYTES_MIN || key.length > KEY_BYTES_MAX)
    return refuse(index, `it has ${key.length} bytes, not ${KEY_BYTES_MIN} to ${KEY_BYTES_MAX}`);
  return key;
}

/**
 * The keys behind one secret, or behind several while one replaces another.
 *
 * @throws ConsentError `options_invalid`; it never shows the secret.
 */
export function readSecrets(secret: string | readonly string[]): readonly Uint8Array[] {
  const secrets = typeof secret === "string" ? [secret] : secret;
  if (!Array.isArray(secrets) || secrets.length === 0 || secrets.length > SECRETS_MAX)
    throw new ConsentError(
      "options_invalid",
      `Cannot read the webhook secrets: there must be 1 to ${SECRETS_MAX}`,
    );
  return secrets.map(readKey);
}

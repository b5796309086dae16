/**
 * Private keys at rest: sealed under a passphrase (scrypt) or under a key file. Pure but for
 * randomness; whoever keeps the text keeps it private. One error for another passphrase, another
 * key file and any changed byte. Format: spec/vault.md §8.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scrypt } from "node:crypto";
import { ConsentError } from "@acp/core";

/** What opens a private key. Ask for it once, and do not keep it. */
export type Unlock =
  /** The passphrase itself, 8 to 1,024 characters for a new key. */
  | { readonly kind: "passphrase"; readonly passphrase: string }
  /** The text of a key file: 64 lower-case hex digits and a line break. */
  | { readonly kind: "key-file"; readonly text: string };

/** What is sealed: the key in use and, while keys are being rotated, the one before. */
export interface Seeds {
  readonly current: Uint8Array;
  readonly previous?: Uint8Array;
}

/** Characters of the shortest passphrase for a new key. */
export const PASSPHRASE_CHARS_MIN = 8;
const PASSPHRASE_CHARS_MAX = 1_024;

/**
 * 128 MiB and about half a second: OWASP's recommendation for scrypt of 2024. The file says them;
 * this version takes no others.
 */
const SCRYPT = { N: 131_072, r: 8, p: 1, maxmem: 256 * 1024 * 1024 } as const;
const KEY_FILE = /^[0-9a-f]{64}\n$/;
const KEY_FILE_INFO = "acp/key-file/v1";
const SEED_BYTES = 32;
const SALT_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD = {
  passphrase: { version: 1, kdf: "scrypt", n: SCRYPT.N, r: SCRYPT.r, p: SCRYPT.p },
  "key-file": { version: 1, kdf: "key-file" },
} as const satisfies Record<Unlock["kind"], object>;
const FIELDS = { salt: SALT_BYTES, iv: IV_BYTES, data: undefined, tag: TAG_BYTES } as const;

/** Returns the random text of a new key file: 64 lower-case hex digits and a line break. */
export function makeKeyFile(): string {
  return `${randomBytes(SEED_BYTES).toString("hex")}\n`;
}

/**
 * Checks what a new key is to be sealed under.
 *
 * @throws ConsentError `options_invalid`.
 */
export function checkUnlock(unlock: Unlock): void {
  if (unlock.kind === "key-file") {
    if (!KEY_FILE.test(unlock.text))
      throw new ConsentError(
        "options_invalid",
        "Cannot use the key file: it is not 64 hex digits and a line break",
      );
    return;
  }
  const { length } = unlock.passphrase;
  if (length < PASSPHRASE_CHARS_MIN || length > PASSPHRASE_CHARS_MAX)
    throw new ConsentError(
      "options_invalid",
      `Cannot use the passphrase: it does not have ${PASSPHRASE_CHARS_MIN} to ${PASSPHRASE_CHARS_MAX} characters`,
    );
}

/**
 * Seals one or two private keys.
 *
 * @throws ConsentError `options_invalid` for a passphrase or key file that {@link checkUnlock}
 *   refuses.
 */
export async function sealSeeds({ current, previous }: Seeds, unlock: Unlock): Promise<string> {
  checkUnlock(unlock);
  const salt = randomBytes(SALT_BYTES);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", await keyOf(unlock, salt), iv, {
    authTagLength: TAG_BYTES,
  });
  const data = Buffer.concat([
    cipher.update(current),
    cipher.update(previous ?? new Uint8Array(0)),
    cipher.final(),
  ]);
  const parts = { salt, iv, data, tag: cipher.getAuthTag() };
  return write(unlock.kind, (name) => parts[name].toString("hex"));
}

/**
 * Opens what {@link sealSeeds} sealed.
 *
 * @throws ConsentError `key_locked`, the same for whatever is wrong.
 */
export async function openSeeds(text: string, unlock: Unlock): Promise<Seeds> {
  const found = PATTERN[unlock.kind].exec(text)?.groups;
  const [salt, iv, data, tag] = ["salt", "iv", "data", "tag"].map((name) =>
    Buffer.from(found?.[name] ?? "", "hex"),
  );
  if (
    found === undefined ||
    salt === undefined ||
    iv === undefined ||
    data === undefined ||
    tag === undefined
  )
    throw locked();
  try {
    const decipher = createDecipheriv("aes-256-gcm", await keyOf(unlock, salt), iv, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(tag);
    const seeds = Buffer.concat([decipher.update(data), decipher.final()]);
    const [current, previous] = [
      new Uint8Array(seeds.subarray(0, SEED_BYTES)),
      new Uint8Array(seeds.subarray(SEED_BYTES)),
    ];
    return previous.length === 0 ? { current } : { current, previous };
  } catch {
    throw locked();
  }
}

/** What a sealed key asks for; `undefined` where it is none. */
export function unlockKindOf(text: string): Unlock["kind"] | undefined {
  return (["passphrase", "key-file"] as const).find((kind) => PATTERN[kind].test(text));
}

/**
 * Returns the 32 bytes that a passphrase (scrypt, N 131,072, r 8, p 1) or a key file (HKDF-SHA256)
 * gives with a salt. Derive a key for each use from them, and seal nothing under them directly.
 * Format: spec/vault.md §8.
 *
 * @throws ConsentError `options_invalid` if the passphrase or key file is unsuitable.
 */
export async function deriveUnlockKey(unlock: Unlock, salt: Uint8Array): Promise<Uint8Array> {
  checkUnlock(unlock);
  return keyOf(unlock, salt);
}

async function keyOf(unlock: Unlock, salt: Uint8Array): Promise<Buffer> {
  if (unlock.kind === "key-file")
    return Buffer.from(
      hkdfSync("sha256", Buffer.from(unlock.text.trim(), "hex"), salt, KEY_FILE_INFO, 32),
    );
  return new Promise((resolve, reject) => {
    // One spelling for a passphrase, whichever keyboard wrote its accents (RFC 8265 §4.2).
    scrypt(unlock.passphrase.normalize("NFC"), salt, 32, SCRYPT, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

function write(kind: Unlock["kind"], textOf: (field: keyof typeof FIELDS) => string): string {
  const fields = {
    salt: textOf("salt"),
    iv: textOf("iv"),
    data: textOf("data"),
    tag: textOf("tag"),
  };
  const { version, ...kdf } = HEAD[kind];
  return `${JSON.stringify({ version, ...kdf, encryption: "aes-256-gcm", ...fields }, undefined, 2)}\n`;
}

/** The one way to write each kind, byte for byte. */
const PATTERN: Readonly<Record<Unlock["kind"], RegExp>> = {
  passphrase: patternOf("passphrase"),
  "key-file": patternOf("key-file"),
};

function patternOf(kind: Unlock["kind"]): RegExp {
  const hex = (bytes: number | undefined): string =>
    bytes === undefined ? `(?:[0-9a-f]{${2 * SEED_BYTES}}){1,2}` : `[0-9a-f]{${2 * bytes}}`;
  const form = write(kind, (field) => `<${field}>`).replaceAll(/[{}().]/g, "\\$&");
  return new RegExp(
    `^${form.replaceAll(/<(\w+)>/g, (_whole, field: keyof typeof FIELDS) => `(?<${field}>${hex(FIELDS[field])})`)}$`,
  );
}

function locked(): ConsentError {
  return new ConsentError(
    "key_locked",
    "Cannot open the private key: the passphrase or key file is wrong, or the key was changed",
  );
}

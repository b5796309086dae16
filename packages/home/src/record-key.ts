/**
 * Record key: shows that a gate of this home wrote a stored question or grant. It is derived from
 * the signing key if the home has one; otherwise it is random, in a file. Anyone who can read it
 * can write such records. Format: spec/home.md §9.
 */
import { hkdfSync, randomBytes } from "node:crypto";
import type { KeyPair } from "@acp/core/proof";
import { createFileAtomic } from "./atomic.js";
import { cannot } from "./errors.js";
import type { HomePaths } from "./paths.js";
import { isMissing, readPrivateFile } from "./private-file.js";

const KEY_BYTES = 32;
const INFO = "acp/record-key/v1";
const FILE = /^[0-9a-f]{64}\n$/;
const FILE_BYTES_MAX = 256;

/**
 * Returns the key for `createConsentGate({ recordKey })`: 32 bytes, the same for every gate of the
 * home. In a home without keys, its file is created if it does not exist.
 *
 * @param keys - Keys of the home; `undefined` if it has none.
 * @throws ConsentError `home_invalid`, with the fix, if the file cannot be read or written.
 */
export async function openRecordKey(
  { recordKeyPath }: HomePaths,
  keys: KeyPair | undefined,
): Promise<Uint8Array> {
  if (keys !== undefined)
    return new Uint8Array(
      hkdfSync("sha256", keys.exportSeed(), new Uint8Array(0), INFO, KEY_BYTES),
    );
  if (await isMissing(recordKeyPath))
    await createFileAtomic(recordKeyPath, `${randomBytes(KEY_BYTES).toString("hex")}\n`);
  // Read in any case: of several gates that start at the same time one made it.
  const text = await readPrivateFile(recordKeyPath, FILE_BYTES_MAX);
  if (!FILE.test(text))
    throw cannot(
      "read",
      recordKeyPath,
    )("it is not a key; remove it to discard the open questions and grants of this home");
  return Uint8Array.from(Buffer.from(text.trim(), "hex"));
}

/**
 * Key in use: a process opens its key once, and another process may rotate the keys afterwards.
 * From then on the old key must sign nothing, because no verifier accepts a signature that was
 * given after its key went out of use.
 */
import { readFileSync } from "node:fs";
import { ConsentError, isJsonObject, parseIsoTime, type Signer } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import type { HomePaths } from "./paths.js";
import { createKeptReadingSync } from "./kept-reading.js";
import { writeFileAtomic } from "./atomic.js";
import { readPublicKeys } from "./keys.js";
import { beginBy, printPublicKeys } from "./public-keys.js";
import { whileWriting } from "./writer-lock.js";

const ROTATED = "the keys were rotated after this process opened them; restart it";
const UNREADABLE =
  "the public keys cannot be read; repair keys/public.key, or restart this process";

/**
 * Returns why this process must no longer sign, or `undefined` while its key is the home's current
 * key. Reads one small file synchronously.
 */
export function whyOutOfUse(
  { publicKeyPath }: HomePaths,
  keys: Pick<KeyPair, "publicKey">,
): string | undefined {
  return whyOther(() => readFileSync(publicKeyPath, "utf8"), keys);
}

/**
 * The same for a process that asks at each call: the file is read again once it changed.
 *
 * @returns What {@link whyOutOfUse} does for the keys.
 */
export function createUseCheck({
  publicKeyPath,
}: HomePaths): (keys: Pick<KeyPair, "publicKey">) => string | undefined {
  const read = createKeptReadingSync(publicKeyPath, () => readFileSync(publicKeyPath, "utf8"));
  return (keys) => whyOther(read, keys);
}

function whyOther(
  read: () => string,
  { publicKey }: Pick<KeyPair, "publicKey">,
): string | undefined {
  try {
    return read().startsWith(`${publicKey} `) ? undefined : ROTATED;
  } catch {
    return UNREADABLE;
  }
}

/**
 * Creates a signer that checks before each signature, under the lock that rotation needs, that its
 * key is still in use. So each signature is older than the end of its key. If the time that it
 * signs is before the beginning of its key, because the clock was ahead when the key was made, the
 * key begins then: first in the file, then it signs.
 *
 * @returns A signer whose `sign` rejects with `key_rejected` once the key is out of use, and with
 * `home_busy` if that cannot be determined; `home_invalid` if the beginning cannot be written.
 */
export function signerInUse(home: HomePaths, keys: KeyPair): Signer {
  return {
    algorithm: "Ed25519",
    publicKey: keys.publicKey,
    sign: (payload) =>
      whileWriting(home.dir, async () => {
        const reason = whyOutOfUse(home, keys);
        if (reason !== undefined) throw new ConsentError("key_rejected", `Cannot sign: ${reason}`);
        await beginInTime(home, payload);
        return keys.sign(payload);
      }),
  };
}

async function beginInTime(home: HomePaths, payload: Uint8Array): Promise<void> {
  const atMs = timeOf(payload);
  if (atMs === undefined) return;
  const periods = await readPublicKeys(home);
  const begun = beginBy(periods, atMs);
  if (begun !== periods) await writeFileAtomic(home.publicKeyPath, printPublicKeys(begun));
}

/** The time that the bytes of a consent bear (spec/proof.md §3); `undefined` for any others. */
function timeOf(payload: Uint8Array): number | undefined {
  try {
    const text = new TextDecoder().decode(payload);
    const signed: unknown = JSON.parse(text.slice(text.indexOf("\n") + 1));
    const timestamp = isJsonObject(signed) ? signed["timestamp"] : undefined;
    return typeof timestamp === "string" ? parseIsoTime(timestamp) : undefined;
  } catch {
    return undefined;
  }
}

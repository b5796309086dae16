/**
 * Index key: what seals the index beside each log of a home. It follows from the key that signs
 * checkpoints, which needs no unlocking; a home without one has no index, and its logs are read.
 */
import { hkdfSync } from "node:crypto";
import { readCheckpointKey } from "@acp/home";
import type { HomePaths } from "@acp/home";

const INFO = "acp/audit-index/v1";
const KEY_BYTES = 32;

/** The key of the indexes of a home whose checkpoints this key signs. */
export function indexKeyFrom(signerKey: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", signerKey, new Uint8Array(0), INFO, KEY_BYTES));
}

/**
 * The key of the home's indexes; `undefined` where it has none, or it cannot be read: whoever only
 * looks something up then reads the logs.
 */
export async function readIndexKey(
  home: Pick<HomePaths, "keysDir">,
): Promise<Uint8Array | undefined> {
  const signerKey = await readCheckpointKey(home).catch(() => undefined);
  return signerKey === undefined ? undefined : indexKeyFrom(signerKey);
}

/**
 * Checkpoint key: the key of the home that signs how far its audit logs have come. Not the key of
 * consents, and not sealed: every command that writes a log has to sign.
 */
import { join } from "node:path";
import type { HomePaths } from "./paths.js";
import { isMissing, readPrivateFile } from "./private-file.js";

const KEY_BYTES_MAX = 1_024;

/** Returns the path of the key's file. Format: spec/checkpoints.md §5. */
export function checkpointKeyPath({ keysDir }: Pick<HomePaths, "keysDir">): string {
  return join(keysDir, "checkpoint.key");
}

/**
 * Reads the key, as the text `PRIVATE+KEY+…`; `undefined` if the home has none.
 *
 * @throws ConsentError `home_invalid` if it cannot be read, or others can read it.
 */
export async function readCheckpointKey(
  home: Pick<HomePaths, "keysDir">,
): Promise<string | undefined> {
  const path = checkpointKeyPath(home);
  return (await isMissing(path)) ? undefined : (await readPrivateFile(path, KEY_BYTES_MAX)).trim();
}

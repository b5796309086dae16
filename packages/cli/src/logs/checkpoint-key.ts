/**
 * Checkpoint key: the key of the home that signs how far its audit logs have come. Not the key of
 * consents, and not sealed: every command that writes a log has to sign. It finds what others did
 * to a log; whoever is this user can sign too, which only a witness elsewhere shows.
 */
import { randomBytes } from "node:crypto";
import { basename, join } from "node:path";
import { generateNoteKey } from "@acp/audit";
import { createFileAtomic, makePrivateDirectory, readPrivateFile } from "@acp/home";
import type { HomePaths } from "@acp/home";
import { exists } from "../home/exists.js";

const KEY_BYTES_MAX = 1_024;

/** Where the key is. */
export function checkpointKeyPath({ keysDir }: Pick<HomePaths, "keysDir">): string {
  return join(keysDir, "checkpoint.key");
}

/** Makes the key; false where there is one. */
export async function initCheckpointKey(home: HomePaths): Promise<boolean> {
  await makePrivateDirectory(home.keysDir);
  return createFileAtomic(
    checkpointKeyPath(home),
    `${generateNoteKey(`acp-${randomBytes(8).toString("hex")}`).signerKey}\n`,
  );
}

/** The key that signs; `undefined` where the home has none. */
export async function readCheckpointKey(
  home: Pick<HomePaths, "keysDir">,
): Promise<string | undefined> {
  const path = checkpointKeyPath(home);
  return (await exists(path)) ? (await readPrivateFile(path, KEY_BYTES_MAX)).trim() : undefined;
}

/**
 * Name of a log among those that the key signs.
 *
 * @param seams - How many logs of this name were set aside before (log-seams.ts).
 */
export function originOf(keyName: string, file: string, seams = 0): string {
  return `${keyName}/${basename(file)}${seams === 0 ? "" : `/${seams + 1}`}`;
}

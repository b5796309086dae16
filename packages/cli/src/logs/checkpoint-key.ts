/**
 * Checkpoint key: made for a home, followed while a gate runs, and what it calls a log. It finds
 * what others did to a log; whoever is this user can sign too, which only a witness elsewhere shows.
 */
import { randomBytes } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { generateNoteKey } from "@acp/audit";
import { checkpointKeyPath, createFileAtomic, makePrivateDirectory } from "@acp/home";
import type { HomePaths } from "@acp/home";

const KEY_BYTES_MAX = 1_024;

/** Makes the key; false where there is one. */
export async function initCheckpointKey(home: HomePaths): Promise<boolean> {
  await makePrivateDirectory(home.keysDir);
  return createFileAtomic(
    checkpointKeyPath(home),
    `${generateNoteKey(`acp-${randomBytes(8).toString("hex")}`).signerKey}\n`,
  );
}

/**
 * The key as it is whenever it is asked for: `acp keys rotate --checkpoint` may replace its file
 * while a gate runs. What cannot be read, or is not private, leaves the last one in place.
 *
 * @param signerKey - As it was read at the start.
 */
export function followCheckpointKey(
  home: Pick<HomePaths, "keysDir">,
  signerKey: string,
): () => string {
  const path = checkpointKeyPath(home);
  let current = signerKey;
  let seen: string | undefined;
  return () => {
    try {
      const { ino, mtimeMs, mode, size } = lstatSync(path);
      const stamp = `${ino} ${mtimeMs} ${mode} ${size}`;
      if (stamp === seen) return current;
      seen = stamp;
      const isPrivateFile = (mode & 0o170_077) === 0o100_000;
      if (isPrivateFile && size <= KEY_BYTES_MAX) current = readFileSync(path, "utf8").trim();
    } catch {
      // Signing goes on with the key that was there.
    }
    return current;
  };
}

/**
 * Name of a log among those that the key signs.
 *
 * @param seams - How many logs of this name were set aside before (log-seams.ts).
 */
export function originOf(keyName: string, file: string, seams = 0): string {
  return `${keyName}/${basename(file)}${seams === 0 ? "" : `/${seams + 1}`}`;
}

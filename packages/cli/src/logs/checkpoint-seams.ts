/**
 * Checkpoint seams: how one checkpoint key of a home follows another. Both sign each seam: the old
 * key vouches for the new one, and the new one says which key was before it. So who trusts one of
 * them can check what the others signed. Format: spec/checkpoints.md §5.1.
 */
import { join } from "node:path";
import { fileWitness, generateNoteKey, noteSigner, noteVerifier } from "@acp/audit";
import { openNote, readCheckpoints } from "@acp/audit";
import { ConsentError } from "@acp/core";
import {
  checkpointKeyPath,
  makePrivateDirectory,
  readCheckpointKey,
  whileWriting,
  writeFileAtomic,
} from "@acp/home";
import type { HomePaths } from "@acp/home";

const TYPE = "acp/checkpoint-key/v1";
const SIGNATURE_START = "\u2014 ";

/** Where the seams are. */
export function keySeamsPath({ keysDir }: Pick<HomePaths, "keysDir">): string {
  return join(keysDir, "checkpoint.seams");
}

/** The seams of a home, oldest first; none where its checkpoint key was never rotated. */
export function readKeySeams(home: Pick<HomePaths, "keysDir">): Promise<readonly string[]> {
  return readCheckpoints(keySeamsPath(home));
}

/**
 * The keys that follow from a trusted one, itself first: what comes before and after it over seams
 * that both of their keys signed. Any other line is nothing.
 */
export function keysOf(trusted: string, seams: readonly string[]): readonly string[] {
  const pairs = seams.flatMap((seam) => readKeySeam(seam) ?? []);
  const keys = new Set([trusted]);
  // The set grows while it is walked.
  for (const key of keys)
    for (const { from, to } of pairs) {
      if (from === key) keys.add(to);
      if (to === key) keys.add(from);
    }
  return [...keys];
}

/** Which public key followed which. */
export interface KeySeam {
  readonly from: string;
  readonly to: string;
}

/** What a note says, where both of its keys signed it; `undefined` for any other. */
export function readKeySeam(note: string): KeySeam | undefined {
  const [type, from, to, end] = note.split("\n", 4);
  if (type !== TYPE || from === undefined || to === undefined || end !== "") return undefined;
  try {
    const isSigned = [from, to].every((key) => openNote(note, [noteVerifier(key)]).ok);
    return isSigned && from !== to ? { from, to } : undefined;
  } catch {
    return undefined;
  }
}

/** The note of a seam, signed by both keys. */
export function makeSeam(fromKey: string, toKey: string): string {
  const [from, to] = [noteSigner(fromKey), noteSigner(toKey)];
  const text = `${TYPE}\n${from.verifierKey}\n${to.verifierKey}\n`;
  const signature = to.sign(text).slice(text.length + 1);
  if (!signature.startsWith(SIGNATURE_START)) throw new Error("a note without its signature");
  return `${from.sign(text)}${signature}`;
}

/** The public keys before and after. */
export type CheckpointRotation = KeySeam;

/**
 * Gives a home another checkpoint key of the same name, so that its logs keep theirs. The seam
 * comes first: a crash leaves one that nobody uses.
 *
 * @param before - Runs while the home is locked, before the key that seals its files is replaced.
 *
 * @throws ConsentError `home_invalid` if the home has none, or a file cannot be written.
 */
export function rotateCheckpointKey(
  home: HomePaths,
  before: () => Promise<void> = () => Promise.resolve(),
): Promise<CheckpointRotation> {
  return whileWriting(home.dir, async () => {
    const old = await readCheckpointKey(home);
    if (old === undefined)
      throw new ConsentError(
        "home_invalid",
        "Cannot rotate the checkpoint key: this home has none; acp init creates it",
      );
    await before();
    const { name, verifierKey: from } = noteSigner(old);
    const next = generateNoteKey(name);
    await makePrivateDirectory(home.keysDir);
    const seams = fileWitness(keySeamsPath(home), "seams");
    await seams.publish(makeSeam(old, next.signerKey), new AbortController().signal);
    await writeFileAtomic(checkpointKeyPath(home), `${next.signerKey}\n`);
    return { from, to: next.verifierKey };
  });
}

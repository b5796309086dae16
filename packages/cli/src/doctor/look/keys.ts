/** Examination of the keys: that they are there, and open. Nobody is asked for a passphrase. */
import { checkpointsPath, noteSigner, noteVerifier, openNote, readCheckpoints } from "@acp/audit";
import { asError, isConsentError } from "@acp/core";
import {
  checkpointKeyPath,
  readCheckpointKey,
  readPrivateFile,
  readPublicKeys,
  readUnlockKind,
} from "@acp/home";
import type { HomePaths } from "@acp/home";
import { initCheckpointKey } from "../../logs/checkpoint-key.js";
import { keySeamsPath, readKeySeam, readKeySeams } from "../../logs/checkpoint-seams.js";
import { listAuditFiles } from "../../logs/log-files.js";
import { exists } from "../../home/exists.js";
import { keyFilePath } from "../../home/unlock.js";
import type { DoctorContext } from "../context.js";
import type { Examination } from "../examination.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";
import { setAside } from "../mend/set-aside.js";
import { isPrivateFile } from "./private.js";

/** The keys. */
export const keysExamination: Examination = {
  id: "keys",
  looksAt: "Keys are there and open",
  look: async (context) => [
    ...(await consentKeys(context)),
    ...(await publicKeys(context.home)),
    ...(await checkpointKey(context.home)),
  ],
};

async function consentKeys(context: DoctorContext): Promise<readonly Found[]> {
  const { home } = context;
  const path = home.privateKeyPath;
  if (!(await exists(path))) {
    const isLost = (await exists(home.vaultPath)) || (await exists(home.publicKeyPath));
    if (isLost)
      return [makeFound("key_lost", { path, found: "There is a vault, and no private key" })];
    return [makeFound("keys_missing", { path: home.keysDir, found: "The home has no keys" })];
  }
  // A mode or an owner is the examination of files' to say.
  if (!(await isPrivateFile(path))) return [];
  const kind = await readUnlockKind(home).catch(asError);
  if (kind instanceof Error)
    return isConsentError(kind, "home_invalid") && !(await isNoText(path))
      ? [] // the folder's mode
      : [makeFound("key_broken", { path, found: "It is not a private key" })];
  return kind === "key-file" ? keyFile(context) : passphrase(context);
}

/** Larger than any key, or no text: it cannot be read as one. */
async function isNoText(path: string): Promise<boolean> {
  return readPrivateFile(path, KEY_BYTES_MAX).then(
    () => false,
    (error: unknown) => isConsentError(error, "home_invalid"),
  );
}

const KEY_BYTES_MAX = 4_096;

async function keyFile(context: DoctorContext): Promise<readonly Found[]> {
  const path = keyFilePath(context.home, context);
  if (!(await exists(path)))
    return [makeFound("unlock_file_missing", { path, found: "The key file is not there" })];
  return opened(context, path);
}

async function passphrase(context: DoctorContext): Promise<readonly Found[]> {
  const { io, home } = context;
  const file = io.env["ACP_PASSPHRASE_FILE"];
  if (file !== undefined) return opened(context, file);
  const found = "The private key needs a passphrase, and ACP_PASSPHRASE_FILE is not set";
  return [makeFound("passphrase_unknown", { path: home.privateKeyPath, found })];
}

async function opened(context: DoctorContext, path: string): Promise<readonly Found[]> {
  const keys = await context.keys();
  if (!(keys instanceof Error)) return [];
  const { message: found } = keys;
  if (isConsentError(keys, "key_locked")) return [makeFound("key_rejected", { path, found })];
  if (isConsentError(keys, "options_invalid")) return [makeFound("key_rejected", { path, found })];
  if (!(await isPrivateFile(path))) return [makeFound("unlock_file_unreadable", { path, found })];
  // Public keys that cannot be read are looked at by themselves.
  const isRead = await readPublicKeys(context.home).then(
    () => true,
    () => false,
  );
  return isRead ? [makeFound("keys_differ", { path: context.home.privateKeyPath, found })] : [];
}

async function publicKeys(home: HomePaths): Promise<readonly Found[]> {
  const path = home.publicKeyPath;
  if (!(await exists(path)))
    return (await exists(home.privateKeyPath))
      ? [makeFound("public_keys_broken", { path, found: "The public keys are not there" })]
      : [];
  try {
    await readPublicKeys(home);
    return [];
  } catch (error) {
    return [makeFound("public_keys_broken", { path, found: asError(error).message })];
  }
}

async function checkpointKey(home: HomePaths): Promise<readonly Found[]> {
  const path = checkpointKeyPath(home);
  const make = async (): Promise<string> => {
    await initCheckpointKey(home);
    return `Made a key in ${path}; acp keys list shows it to those who check checkpoints`;
  };
  try {
    const key = await readCheckpointKey(home);
    if (key === undefined) {
      const found = "There is no key that signs checkpoints";
      const mend = { what: `make ${path}`, note: "before", run: make } as const;
      return [makeFound("checkpoint_key_missing", { path, found, mend })];
    }
    return await keySeams(home, noteSigner(key).verifierKey);
  } catch (error) {
    // A mode is the examination of files' to say and to mend.
    if (isConsentError(error, "home_invalid") && !(await isPrivateFile(path))) return [];
    const mend = {
      what: `set ${path} aside and make a new one; what it signed is not checked from then on`,
      // No log opens while the key is broken.
      note: "after",
      run: async (): Promise<string> => `${await setAside(home, path)}. ${await make()}`,
    } as const;
    return [makeFound("checkpoint_key_broken", { path, found: asError(error).message, mend })];
  }
}

/** How one checkpoint key followed another: the last of them is the one that signs. */
async function keySeams(home: HomePaths, verifierKey: string): Promise<readonly Found[]> {
  const path = keySeamsPath(home);
  if (!(await isPrivateFile(path))) return [];
  const notes = await readKeySeams(home).catch(asError);
  const seams = notes instanceof Error ? [] : notes.map(readKeySeam);
  if (seams.length === 0 || seams.includes(undefined)) {
    const found = notes instanceof Error ? notes.message : "A line of it is not a signed seam";
    return [makeFound("key_seams_broken", { path, found })];
  }
  for (const seam of seams)
    if (seam?.from === verifierKey && (await hasSigned(home, seam.to))) {
      const found = `${seam.to} followed the key that is there, and has signed checkpoints`;
      return [makeFound("checkpoint_key_older", { path: checkpointKeyPath(home), found })];
    }
  return [];
}

/** The seam is written first: a rotation that was cut off leaves one whose key signed nothing. */
async function hasSigned({ dir }: HomePaths, verifierKey: string): Promise<boolean> {
  const verifiers = [noteVerifier(verifierKey)];
  for (const path of await listAuditFiles(dir)) {
    const notes = await readCheckpoints(checkpointsPath(path)).catch(() => []);
    if (notes.some((note) => openNote(note, verifiers).ok)) return true;
  }
  return false;
}

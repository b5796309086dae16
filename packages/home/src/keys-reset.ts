/**
 * Keys reset: new keys for a home whose passphrase or key file is lost, and another passphrase for
 * keys that still open. What no longer opens is set aside, never removed. Format: spec/vault.md §8.
 */
import { createHash } from "node:crypto";
import { ConsentError, isConsentError, systemClock } from "@acp/core";
import { generateKeyPair, keyPairFromSeed } from "@acp/core/proof";
import { createFileAtomic, writeFileAtomic } from "./atomic.js";
import { findEncryptedFields } from "./encrypted-field.js";
import { type KeyClock, openPrivateKey, publish, readPublicKeys, settleKeys } from "./keys.js";
import type { Rotation } from "./keys.js";
import type { HomePaths } from "./paths.js";
import { isMissing, makePrivateDirectory, readPrivateFile } from "./private-file.js";
import { checkUnlock, sealSeeds, type Unlock } from "./private-key.js";
import { readTextFile } from "./text-file.js";
import { sealEmptyVault } from "./vault-file.js";
import { whileWriting } from "./writer-lock.js";

const FILE_BYTES_MAX: number = 1024 * 1024;
const HASH_CHARS = 8;

/**
 * Seals the private key under another passphrase or key file. The keys stay the same, so gates go
 * on; a copy of the file from before opens as it did.
 *
 * @param from - Opens the private key now.
 * @returns The public key.
 * @throws ConsentError as `unlockKeys`; `options_invalid` if `to` is unsuitable. The file is then
 * unchanged.
 */
export function changeUnlock(
  home: HomePaths,
  { from, to, clock = systemClock }: UnlockChange,
): Promise<string> {
  checkUnlock(to);
  return whileWriting(home.dir, async () => {
    const keys = await settleKeys(home, from, clock);
    await writeFileAtomic(home.privateKeyPath, await sealSeeds({ current: keys.exportSeed() }, to));
    return keys.publicKey;
  });
}

/** What opens a private key, and what is to open it from now on. */
export interface UnlockChange {
  /** Opens the private key now. */
  readonly from: Unlock;
  /** Opens it afterwards. */
  readonly to: Unlock;
  /** For a rotation that was interrupted. */
  readonly clock?: KeyClock;
}

/** What {@link resetKeys} works with. */
export interface ResetPlan {
  /** Files of the home; its public keys must be there. */
  readonly home: HomePaths;
  /** Seals the new private key; must not open the old one. */
  readonly unlock: Unlock;
  /**
   * Counter of the new vault: above the newest one that the log notes. A function is asked while
   * the home is locked, so that nobody notes another one meanwhile.
   */
  readonly vaultCounter: number | (() => Promise<number>);
  /** When the old key ends; the machine's clock alone unless given. */
  readonly clock?: KeyClock;
}

/** Result of {@link resetKeys}. */
export interface Reset extends Rotation {
  /** Copies of what the new keys do not open: private key and vault. */
  readonly setAside: readonly string[];
  /** Paths of the encrypted fields in `config.yml` that the new keys do not open. */
  readonly lostFields: readonly string[];
}

/**
 * Creates new keys and an empty vault for a home whose private key does not open any more. The old
 * public key stays trusted for what it signed; the old private key and vault are copied beside
 * themselves. May be done again after a crash at any moment: the private key comes last.
 *
 * @throws ConsentError `options_invalid` if `unlock` opens the old key, or is unsuitable;
 * `home_invalid` if there is no public key, or a file cannot be copied or written.
 */
export function resetKeys(plan: ResetPlan): Promise<Reset> {
  const { home, unlock } = plan;
  checkUnlock(unlock);
  return whileWriting(home.dir, async () => {
    const [before] = await readPublicKeys(home);
    await refuseWhatOpens(home, unlock, before?.publicKey);
    const lostFields = await encryptedFieldsOf(home);
    const copies: string[] = [];
    const keys = generateKeyPair();
    for (const step of resetSteps(plan, keys)) copies.push(...(await step()));
    return { keys, previousPublicKey: before?.publicKey ?? "", setAside: copies, lostFields };
  });
}

/** The steps of a reset; each may be done again, also with other new keys. */
export function resetSteps(
  { home, unlock, vaultCounter, clock = systemClock }: ResetPlan,
  keys: Rotation["keys"],
): readonly (() => Promise<readonly string[]>)[] {
  const write = (path: string, text: string): Promise<readonly string[]> =>
    writeFileAtomic(path, text).then(() => []);
  return [
    () => setAside(home.privateKeyPath),
    () => setAside(home.vaultPath),
    () => publish(home, keys, clock).then(() => []),
    async () => {
      const counter = typeof vaultCounter === "number" ? vaultCounter : await vaultCounter();
      return write(home.vaultPath, sealEmptyVault(keys, counter));
    },
    async () => {
      await makePrivateDirectory(home.keysDir);
      return write(home.privateKeyPath, await sealSeeds({ current: keys.exportSeed() }, unlock));
    },
  ];
}

/** A key that opens is not lost; but one that an interrupted reset left behind is no use. */
async function refuseWhatOpens(
  home: HomePaths,
  unlock: Unlock,
  published: string | undefined,
): Promise<void> {
  if (await isMissing(home.privateKeyPath)) return;
  try {
    const { current } = await openPrivateKey(home, unlock);
    if (keyPairFromSeed(current).publicKey !== published) return;
  } catch (error) {
    if (isConsentError(error, "key_locked")) return;
    throw error;
  }
  throw new ConsentError(
    "options_invalid",
    "Cannot reset the keys: the private key opens, so that nothing is lost; use acp keys rotate or acp keys passphrase",
  );
}

/** Copies a file beside itself, under a name that is that of its content. */
async function setAside(path: string): Promise<readonly string[]> {
  if (await isMissing(path)) return [];
  const text = await readPrivateFile(path, FILE_BYTES_MAX);
  const hash = createHash("sha256").update(text).digest("hex").slice(0, HASH_CHARS);
  const copy = `${path}.lost-${hash}`;
  await createFileAtomic(copy, text);
  return [copy];
}

/** A configuration that does not load is for its own reader to complain about. */
async function encryptedFieldsOf({ configPath }: HomePaths): Promise<readonly string[]> {
  try {
    return [...findEncryptedFields(await readTextFile(configPath, FILE_BYTES_MAX)).keys()];
  } catch (error) {
    if (isConsentError(error)) return [];
    throw error;
  }
}

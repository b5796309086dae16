/**
 * Keys of a home: created once, opened once for each process, rotated so that a crash at any moment
 * loses nothing. Format: spec/vault.md §8.
 */
import { type Clock, ConsentError, systemClock } from "@acp/core";
import { generateKeyPair, type KeyPair, keyPairFromSeed } from "@acp/core/proof";
import { createFileAtomic, writeFileAtomic } from "./atomic.js";
import { checkConfigFile, resealConfigFile } from "./encrypted-field.js";
import { cannot } from "./errors.js";
import type { HomePaths } from "./paths.js";
import { checkPrivateDirectory, makePrivateDirectory, readPrivateFile } from "./private-file.js";
import { checkUnlock, openSeeds, sealSeeds, type Unlock, unlockKindOf } from "./private-key.js";
import {
  coverSigned,
  type KeyPeriod,
  parsePublicKeys,
  printPublicKeys,
  type SignedAt,
  succeed,
} from "./public-keys.js";
import { readTextFile } from "./text-file.js";
import { createVaultFile, readVaultFile, resealVaultFile } from "./vault-file.js";
import { whileWriting } from "./writer-lock.js";

/** The part of a clock that tells the current time. */
export type WallClock = Pick<Clock, "now">;

/** What says when a key begins and the one before it ends. */
export interface KeyClock {
  /**
   * The log's time, in milliseconds since 1970: the clock's, or the time of the log's last event
   * where that is later, because a clock that is behind ends no key before what it has signed.
   */
  now(): number | Promise<number>;
  /** What the log shows that the home's keys signed. Left out: nothing is known. */
  signed?(): Promise<readonly SignedAt[]>;
  /** The highest counter that the log notes for the vault. Left out: the vault's own counts on. */
  vaultCounter?(): Promise<number>;
}

const PRIVATE_BYTES_MAX = 4_096;
/** Some thousands of rotations. */
const PUBLIC_BYTES_MAX: number = 1024 * 1024;

/**
 * Creates keys and an empty vault. Existing files stay; files that a crash left out are created.
 *
 * @returns The keys, and the paths that were created.
 * @throws ConsentError `home_invalid`; `options_invalid` for an unsuitable passphrase or key file;
 * `key_locked` if a key exists that `unlock` does not open.
 */
export async function initKeys(
  home: HomePaths,
  unlock: Unlock,
  clock: WallClock = systemClock,
): Promise<{ readonly keys: KeyPair; readonly created: readonly string[] }> {
  checkUnlock(unlock);
  await makePrivateDirectory(home.keysDir);
  return whileWriting(home.dir, async () => {
    const fresh = generateKeyPair();
    const isNew = await createFileAtomic(
      home.privateKeyPath,
      await sealSeeds({ current: fresh.exportSeed() }, unlock),
    );
    const keys = isNew ? fresh : keyPairFromSeed((await openPrivateKey(home, unlock)).current);
    const period = printPublicKeys([{ publicKey: keys.publicKey, fromMs: clock.now() }]);
    const isPublished = await createFileAtomic(home.publicKeyPath, period);
    const vault = await createVaultFile(home, keys);
    const made = [
      isNew && home.privateKeyPath,
      isPublished && home.publicKeyPath,
      vault !== undefined && home.vaultPath,
    ];
    return { keys, created: made.filter((path) => path !== false) };
  });
}

/**
 * Reports what opens the private key: a passphrase or a key file.
 *
 * @throws ConsentError `home_invalid` if there is no private key or others may read it;
 * `key_locked` if the file is not a private key.
 */
export async function readUnlockKind(home: HomePaths): Promise<Unlock["kind"]> {
  const kind = unlockKindOf(await readPrivateKeyFile(home));
  if (kind === undefined)
    throw new ConsentError("key_locked", "Cannot open the private key: the file was changed");
  return kind;
}

/**
 * Reads the public keys of a home, newest first. Needs no passphrase.
 *
 * @throws ConsentError `home_invalid` if the file cannot be read; `key_rejected` if it is
 * malformed.
 */
export async function readPublicKeys({ publicKeyPath }: HomePaths): Promise<readonly KeyPeriod[]> {
  return parsePublicKeys(await readTextFile(publicKeyPath, PUBLIC_BYTES_MAX));
}

/**
 * Opens the private key, after completing a rotation that was interrupted. Call it once in a
 * process.
 *
 * @throws ConsentError `key_locked`, without saying whether the passphrase, the key file or the key
 * is wrong; `home_invalid` if a file is missing or open to others, or the public key does not
 * match.
 */
export async function unlockKeys(
  home: HomePaths,
  unlock: Unlock,
  clock: KeyClock = systemClock,
): Promise<KeyPair> {
  const { current, previous } = await openPrivateKey(home, unlock);
  const keys = keyPairFromSeed(current);
  if (previous === undefined && (await isFirstPublished(home, keys))) return keys;
  // Somebody rotates the keys just now, or was cut off: looked at again once nobody does.
  return whileWriting(home.dir, () => settleKeys(home, unlock, clock));
}

/**
 * Opens the keys that somebody just rotated to, as soon as they are in use: the rotation itself may
 * still have something to do.
 *
 * @throws ConsentError as {@link unlockKeys}.
 */
export async function takeOverKeys(home: HomePaths, unlock: Unlock): Promise<KeyPair> {
  const keys = await openPrivatePair(home, unlock);
  return (await isFirstPublished(home, keys)) ? keys : unlockKeys(home, unlock);
}

/**
 * Opens the private key alone, whatever the public keys say: for who goes on without signing.
 *
 * @returns Keys that must sign nothing before {@link unlockKeys} opens them.
 * @throws ConsentError `key_locked` or `home_invalid`.
 */
export async function openPrivatePair(home: HomePaths, unlock: Unlock): Promise<KeyPair> {
  return keyPairFromSeed((await openPrivateKey(home, unlock)).current);
}

/**
 * Opens the private key and completes a rotation, unless another process has done so meanwhile. To
 * be called while the home is locked.
 */
export async function settleKeys(
  home: HomePaths,
  unlock: Unlock,
  clock: KeyClock,
): Promise<KeyPair> {
  const { current, previous } = await openPrivateKey(home, unlock);
  const keys = keyPairFromSeed(current);
  if (previous !== undefined) {
    await refuseOldRotation(home, keys);
    const plan = { home, unlock, clock, from: keyPairFromSeed(previous), to: keys };
    for (const step of rotationSteps(plan).slice(1)) await step();
  }
  if (await isFirstPublished(home, keys)) return keys;
  throw cannot("open", home.publicKeyPath)("its first key does not belong to the private key");
}

/** A copy of a private key that was made during a rotation would put a retired key in front again. */
async function refuseOldRotation(home: HomePaths, { publicKey }: KeyPair): Promise<void> {
  const [, ...retired] = await readPublicKeys(home);
  if (retired.some((period) => period.publicKey === publicKey))
    throw cannot("open", home.privateKeyPath)("it is of a rotation that was finished long ago");
}

async function isFirstPublished(home: HomePaths, { publicKey }: KeyPair): Promise<boolean> {
  const [published] = await readPublicKeys(home);
  return published?.publicKey === publicKey;
}

/** Result of {@link rotateKeys}. */
export interface Rotation {
  /** The new key pair. */
  readonly keys: KeyPair;
  /** The old public key: 64 lower-case hex digits. */
  readonly previousPublicKey: string;
}

/**
 * Creates a new key pair, and reseals the vault and the encrypted fields for it. The old public key
 * stays trusted for what it has signed so far: until the log's time, and at every other time at
 * which the log shows that it signed.
 *
 * @param unlock - Opens the old private key, and seals the new one.
 * @throws ConsentError as {@link unlockKeys}; `vault_invalid` if the vault or a field does not
 * open. Nothing is changed then.
 */
export function rotateKeys(
  home: HomePaths,
  unlock: Unlock,
  clock: KeyClock = systemClock,
): Promise<Rotation> {
  return whileWriting(home.dir, async () => {
    const from = await settleKeys(home, unlock, clock);
    const to = generateKeyPair();
    await readVaultFile(home, from);
    await checkConfigFile(home, from);
    for (const step of rotationSteps({ home, unlock, clock, from, to })) await step();
    return { keys: to, previousPublicKey: from.publicKey };
  });
}

/**
 * Gives the keys of a home the times at which its log shows that they signed: a clock that was
 * wrong kept them out of it, or a version of before ended a key before it began. Needs no
 * passphrase.
 *
 * @returns Whether a key has more time than before.
 * @throws ConsentError as {@link readPublicKeys}; `home_busy`.
 */
export function repairPeriods(home: HomePaths, signed: readonly SignedAt[]): Promise<boolean> {
  return whileWriting(home.dir, async () => {
    const before = await readPublicKeys(home);
    const after = coverSigned(before, signed);
    if (after === before) return false;
    await writeFileAtomic(home.publicKeyPath, printPublicKeys(after));
    return true;
  });
}

/** A rotation from one pair to another. */
export interface RotationPlan {
  readonly home: HomePaths;
  readonly unlock: Unlock;
  readonly clock: KeyClock;
  readonly from: KeyPair;
  readonly to: KeyPair;
}

/**
 * The steps of a rotation. After each of them the same passphrase opens a key that opens
 * everything, or that completes the rest: from the first to the last, the private key's file holds
 * both keys. Every step may be done again.
 */
export function rotationSteps({
  home,
  unlock,
  clock,
  from,
  to,
}: RotationPlan): readonly (() => Promise<void>)[] {
  const keep = async (previous: KeyPair | undefined): Promise<void> => {
    const seeds = {
      current: to.exportSeed(),
      ...(previous === undefined ? {} : { previous: previous.exportSeed() }),
    };
    await writeFileAtomic(home.privateKeyPath, await sealSeeds(seeds, unlock));
  };
  return [
    () => keep(from),
    async () => resealVaultFile(home, { from, to, above: await clock.vaultCounter?.() }),
    () => resealConfigFile(home, from, to),
    () => publish(home, to, clock),
    () => keep(undefined),
  ];
}

/**
 * Puts a new key in front of the public keys. The moment is taken here, while the home is locked:
 * whoever signed with the old key before (signerInUse) did so earlier.
 */
export async function publish(
  home: HomePaths,
  { publicKey }: Pick<KeyPair, "publicKey">,
  clock: KeyClock,
): Promise<void> {
  const periods = succeed(await readPublicKeys(home), publicKey, await clock.now());
  const signed = (await clock.signed?.()) ?? [];
  await writeFileAtomic(home.publicKeyPath, printPublicKeys(coverSigned(periods, signed)));
}

/**
 * Opens the private key's file.
 *
 * @throws ConsentError `key_locked` or `home_invalid`.
 */
export async function openPrivateKey(
  home: HomePaths,
  unlock: Unlock,
): ReturnType<typeof openSeeds> {
  return openSeeds(await readPrivateKeyFile(home), unlock);
}

/**
 * Reads the private key's file, sealed as it is.
 *
 * @throws ConsentError `home_invalid`.
 */
export async function readPrivateKeyFile({ keysDir, privateKeyPath }: HomePaths): Promise<string> {
  await checkPrivateDirectory(keysDir);
  return readPrivateFile(privateKeyPath, PRIVATE_BYTES_MAX);
}

/**
 * Vault file: `vault.json`, read and changed as a whole. It is private and replaced in one step, by
 * one writer at a time; each save increments its counter. Format: spec/vault.md §3.
 */
import { ConsentError } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import {
  openVault,
  sealVault,
  type Secret,
  type VaultContents,
  type VaultMark,
  vaultMark,
} from "@acp/core/vault";
import { createFileAtomic, writeFileAtomic } from "./atomic.js";
import type { HomePaths } from "./paths.js";
import { readPrivateFile } from "./private-file.js";
import { whileWriting } from "./writer-lock.js";

/** Twice the largest contents, for hex, and the frame. */
const FILE_BYTES_MAX: number = 2 * 256 * 1024 + 4_096;

/** Content of the vault, and its mark for the audit log. */
export interface OpenedVault extends VaultContents {
  /** Identifies this version of the file in the audit log. */
  readonly mark: VaultMark;
}

/**
 * Creates an empty vault.
 *
 * @returns Its mark; `undefined` if there is a file already, which stays as it is.
 * @throws ConsentError `home_invalid`.
 */
export async function createVaultFile(
  home: HomePaths,
  keys: KeyPair,
): Promise<VaultMark | undefined> {
  const text = sealEmptyVault(keys, 1);
  return (await createFileAtomic(home.vaultPath, text)) ? vaultMark(1, text) : undefined;
}

/** Returns the text of an empty vault. */
export function sealEmptyVault(keys: KeyPair, counter: number): string {
  return sealVault({ counter, secrets: [] }, keys.exportSeed());
}

/**
 * Opens the vault.
 *
 * @throws ConsentError `home_invalid` if the file is missing or others may read it; `vault_invalid`
 * if it does not open.
 */
export async function readVaultFile(home: HomePaths, keys: KeyPair): Promise<OpenedVault> {
  return (await openFile(home, keys)).vault;
}

async function openFile(
  { vaultPath }: HomePaths,
  keys: KeyPair,
): Promise<{ readonly vault: OpenedVault; readonly text: string }> {
  const text = await readPrivateFile(vaultPath, FILE_BYTES_MAX);
  const { counter, secrets } = openVault(text, keys.exportSeed());
  return { vault: Object.freeze({ counter, secrets, mark: vaultMark(counter, text) }), text };
}

/** What a change makes of the secrets, and which save it is. */
export interface VaultEdit {
  /** Returns the secrets from now on. */
  readonly change: (secrets: readonly Secret[]) => readonly Secret[];
  /** The highest counter that the log notes: the save is above it. */
  readonly above: number;
}

/**
 * Replaces the secrets with what `change` returns. Afterwards append the {@link VaultMark} to the
 * audit log, so that a swap for an older file is noticed.
 *
 * @throws What {@link readVaultFile} throws; `secret_invalid` if the secrets do not fit;
 * `home_busy` if another process is writing. The file is then unchanged.
 */
export function changeVaultFile(
  home: HomePaths,
  keys: KeyPair,
  edit: VaultEdit | VaultEdit["change"],
): Promise<VaultMark> {
  const { change, above } = typeof edit === "function" ? { change: edit, above: 0 } : edit;
  return whileWriting(home.dir, async () => {
    const { counter, secrets } = await readVaultFile(home, keys);
    const next = Math.max(counter, above) + 1;
    return saveVault(home, keys, { counter: next, secrets: change(secrets) });
  });
}

async function saveVault(
  home: HomePaths,
  keys: KeyPair,
  contents: VaultContents,
): Promise<VaultMark> {
  const text = sealVault(contents, keys.exportSeed());
  await writeFileAtomic(home.vaultPath, text);
  return vaultMark(contents.counter, text);
}

/** Returns the secrets with one more, which replaces a secret of the same name. */
export function withSecret(secrets: readonly Secret[], secret: Secret): readonly Secret[] {
  return [...secrets.filter(({ name }) => name !== secret.name), secret];
}

/**
 * Returns the secrets without the named one.
 *
 * @throws ConsentError `secret_invalid` if there is none of that name.
 */
export function withoutSecret(secrets: readonly Secret[], name: string): readonly Secret[] {
  const left = secrets.filter((secret) => secret.name !== name);
  if (left.length === secrets.length)
    throw new ConsentError(
      "secret_invalid",
      `Cannot remove secret ${JSON.stringify(name)}: the vault has no secret of that name`,
    );
  return left;
}

/**
 * Seals the vault for another key, where that is not done already. To be called while the home is
 * locked.
 *
 * @throws ConsentError `vault_invalid` where neither key opens it.
 */
export async function resealVaultFile(
  home: HomePaths,
  { from, to, above = 0 }: VaultReseal,
): Promise<void> {
  const isDone = await readVaultFile(home, to).then(
    () => true,
    () => false,
  );
  if (isDone) return;
  const { counter, secrets } = await readVaultFile(home, from);
  await saveVault(home, to, { counter: Math.max(counter, above) + 1, secrets });
}

/** From which key to which a vault is sealed anew. */
export interface VaultReseal {
  readonly from: KeyPair;
  readonly to: KeyPair;
  /** The highest counter that the log notes: the save is above it. */
  readonly above?: number | undefined;
}

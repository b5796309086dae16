/**
 * The vault of a gate: its secrets as the file has them at each release, so that one that was
 * removed goes nowhere any more. Those of an older vault go nowhere at all: they are only masked.
 */
import { setTimeout as wait } from "node:timers/promises";
import { asError, isConsentError } from "@acp/core";
import { revealSecret, Secret } from "@acp/core/vault";
import type { KeyPair } from "@acp/core/proof";
import { createKeptReading, readVaultFile } from "@acp/home";
import type { Home, OpenedVault } from "@acp/home";
import { vaultOlder } from "../rollback/sealed-files.js";
import { createRollbackGuard, nothingSaved } from "../rollback/state-guard.js";
import type { NotedFollower } from "../rollback/noted-states.js";
import type { RollbackGuard } from "../rollback/state-guard.js";
import type { KeyRing } from "./key-ring.js";

/** The vault of one gate. */
export interface HomeVault {
  /** The same list while nothing changes. */
  secrets(): Promise<readonly Secret[]>;
  /**
   * The list where it is the one that was saved last.
   *
   * @throws ConsentError `vault_invalid` for an older one; `key_locked` and others where it cannot be
   *   opened.
   */
  sound(): Promise<readonly Secret[]>;
  /** Says why none of them is released. */
  readonly guard: RollbackGuard;
}

/** Whether a vault cannot be read or opened, now that the keys are those in use. */
export function isVaultFault(error: unknown): boolean {
  return isConsentError(error, "vault_invalid") || isConsentError(error, "home_invalid");
}

const TRIES = 20;
const WAIT_MS = 50;

/** Reads the vault, as its file has it at each reading. */
export type VaultReading = () => Promise<OpenedVault>;

/**
 * Reads the vault with the keys of now; where neither changed, it is not opened again. While somebody
 * rotates the keys the vault is sealed for the new ones a moment before these are in use.
 */
export function createVaultReading(home: Home, ring: KeyRing): VaultReading {
  const readings = new WeakMap<KeyPair, VaultReading>();
  const readingOf = (keys: KeyPair): VaultReading => {
    const reading =
      readings.get(keys) ?? createKeptReading(home.vaultPath, () => readVaultFile(home, keys));
    readings.set(keys, reading);
    return reading;
  };
  return async () => {
    for (let tries = 1; ; tries++) {
      try {
        return await readingOf(await ring.fresh())();
      } catch (error) {
        if (tries >= TRIES || !isConsentError(error, "vault_invalid")) throw error;
      }
      await wait(WAIT_MS);
    }
  };
}

/** Parts of {@link openHomeVault}. */
export interface HomeVaultParts {
  readonly home: Home;
  readonly ring: Pick<KeyRing, "isStopped">;
  readonly read: VaultReading;
  /** What the process knows of the home's logs already. */
  readonly noted?: NotedFollower | undefined;
}

/** A list, and which one it is. */
interface Kept {
  readonly id: string;
  readonly secrets: readonly Secret[];
}

/**
 * Opens it.
 *
 * @param opened - As it was at the start; `undefined` where it did not open.
 */
export function openHomeVault(
  { home, ring, read, noted }: HomeVaultParts,
  opened: OpenedVault | undefined,
): HomeVault {
  const guard = createRollbackGuard(home, nothingSaved, noted);
  let last: Kept = { id: "", secrets: Object.freeze([...(opened?.secrets ?? [])]) };
  const keep = (id: string, make: () => readonly Secret[]): readonly Secret[] => {
    if (last.id !== id) last = { id, secrets: Object.freeze([...make()]) };
    return last.secrets;
  };
  const whyNot = async ({ mark }: OpenedVault): Promise<string | undefined> =>
    guard
      .of("vault")
      .whyNot({ ...mark, isSealed: true })
      .catch((error: unknown) => asError(error).message);
  return {
    guard,
    async sound() {
      const now = await read();
      const why = await whyNot(now);
      if (why !== undefined) throw vaultOlder(home, why);
      return now.secrets;
    },
    async secrets() {
      const now = await read().catch((error: unknown) => {
        if (ring.isStopped()) return undefined;
        if (!isVaultFault(error)) throw error;
        guard.tell(`${asError(error).message}; no secret is released; run: acp doctor`);
        return undefined;
      });
      if (now === undefined) return keep("stopped", () => unbound(last.secrets));
      const why = await whyNot(now);
      if (why === undefined) return keep(now.mark.hash, () => now.secrets);
      guard.tell(`${vaultOlder(home, why).message}; no secret is released`);
      return keep(`older ${now.mark.hash}`, () => unbound(now.secrets));
    },
  };
}

/** Bound to nothing, so that none is released; what servers say is masked for them still. */
const unbound = (secrets: readonly Secret[]): readonly Secret[] =>
  secrets.map(
    (secret) =>
      new Secret({ name: secret.name, value: revealSecret(secret), servers: [], hosts: [] }),
  );

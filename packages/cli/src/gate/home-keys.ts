/**
 * Keys and vault of a gate: opened when it starts, and again when somebody rotates the keys.
 */
import { asError, isConsentError } from "@acp/core";
import type { GateOptions, Masker } from "@acp/core";
import { createConsentSigner } from "@acp/core/proof";
import type { KeyPair } from "@acp/core/proof";
import { createMasker, createVault } from "@acp/core/vault";
import type { VaultMark } from "@acp/core/vault";
import {
  createKeptReading,
  openPrivatePair,
  readPublicKeys,
  readVaultFile,
  signerInUse,
  takeOverKeys,
} from "@acp/home";
import type { Home, KeyPeriod, OpenedVault, Unlock } from "@acp/home";
import type { Invocation } from "../command.js";
import { controllingTerminal } from "../home/hidden-prompt.js";
import type { Terminal } from "../home/hidden-prompt.js";
import { hasKeys, openKeys, readUnlock, unlockAgain } from "../home/unlock.js";
import { followNotedStates } from "../rollback/noted-states.js";
import type { NotedFollower } from "../rollback/noted-states.js";
import { MEND, whyKeysOlder } from "../rollback/sealed-files.js";
import type { RollbackGuard } from "../rollback/state-guard.js";
import { createVaultReading, isVaultFault, openHomeVault } from "./home-vault.js";
import type { HomeVault, VaultReading } from "./home-vault.js";
import { createKeyRing } from "./key-ring.js";
import type { KeyRing } from "./key-ring.js";

/** The home's keys, open. */
export interface HomeKeys {
  /** As they were at the start; `undefined` where the home has none. */
  readonly keys: KeyPair | undefined;
  /** As they are now; left out where the home has none. */
  readonly ring?: KeyRing;
  /** What the home's logs note; left out where the home has no keys. */
  readonly noted?: NotedFollower;
  /** The vault as it is now; left out where the home has no keys. */
  readonly readVault?: VaultReading;
  /** The secrets of the vault as it is now, or why none may be used; left out where the home has no keys. */
  readonly soundVault?: HomeVault["sound"];
  /** Says why no secret of the vault is released; left out where the home has none. */
  readonly guard?: RollbackGuard;
  /** The state of the vault at the start, where it opened. */
  readonly vaultMark?: VaultMark;
  /** What a gate takes from them. */
  readonly gateOptions: Pick<GateOptions, "signer" | "vault" | "recordKey">;
  /** Takes the secrets out of what servers say, as they were when the gate started. */
  readonly masker?: () => Masker | undefined;
}

/**
 * Opens keys and vault; without keys answers are not signed and no secret is known.
 *
 * @param find - Where to ask for a passphrase. Standard input is MCP's, and so is the terminal of
 *   most clients: with --tty alone, unless given.
 * Keys that are older than the home's logs note, or are not those in use, open and are not used:
 * nobody is asked. Nor is a vault that is older or does not open: no secret is released.
 *
 * @throws ConsentError `key_locked` where the private key does not open.
 */
export async function openHomeKeys(
  home: Home,
  invocation: Invocation,
  find: () => Terminal | undefined | Promise<Terminal | undefined> = () =>
    invocation.flags.has("tty") ? controllingTerminal() : undefined,
): Promise<HomeKeys> {
  if (!(await hasKeys(home))) return { keys: undefined, gateOptions: {} };
  return openHomeKeysWith(home, invocation, await readUnlock(home, invocation, find));
}

/**
 * The same with what opens them, which somebody gave before.
 *
 * @throws ConsentError as {@link openHomeKeys}.
 */
export async function openHomeKeysWith(
  home: Home,
  invocation: Invocation,
  unlock: Unlock,
): Promise<HomeKeys> {
  const { keys, whyUnused } = await openAnyway(home, unlock);
  const noted = followNotedStates(home);
  const again = unlockAgain(home, invocation, unlock);
  const reopen = async (): Promise<KeyPair> => takeOverKeys(home, await again());
  const periods = createKeptReading(home.publicKeyPath, () => readPublicKeys(home));
  const ring = await createKeyRing({
    home,
    keys,
    reopen,
    whyStopped: () => whyStopped(home, noted, periods),
    whyUnused,
  });
  const opened = await readVaultFile(home, keys).catch(unopened);
  const signer = createConsentSigner(signerInUse(home, keys), async () =>
    signerInUse(home, await ring.fresh()),
  );
  const readVault = createVaultReading(home, ring);
  const vault = openHomeVault({ home, ring, read: readVault, noted }, opened);
  // An older one is said at the start, not when somebody needs it.
  if (!ring.isStopped()) await vault.secrets();
  return {
    keys,
    ring,
    noted,
    readVault,
    soundVault: () => vault.sound(),
    guard: vault.guard,
    ...(opened !== undefined && { vaultMark: opened.mark }),
    masker: () => maskerOf(opened),
    gateOptions: {
      signer,
      vault: createVault(() => vault.secrets()),
      recordKey: () => ring.recordKey(),
    },
  };
}

/**
 * The same keys for one more client of a gate that runs for long: as they are now, with the secrets
 * that the vault has now.
 *
 * @throws ConsentError as {@link openHomeKeys}.
 */
export async function renewHomeKeys(home: Home, held: HomeKeys): Promise<HomeKeys> {
  const { ring, noted, readVault } = held;
  if (ring === undefined || readVault === undefined) return held;
  // Keys that must not be used stop questions, not the client's gate.
  const keys = await ring.fresh().catch((error: unknown) => {
    if (!ring.isStopped()) throw error;
    return held.keys;
  });
  if (keys === undefined || ring.isStopped()) return held;
  const opened = await readVault().catch(unopened);
  const vault = openHomeVault({ home, ring, read: readVault, noted }, opened);
  await vault.secrets();
  return {
    ...held,
    keys,
    soundVault: () => vault.sound(),
    guard: vault.guard,
    ...(opened !== undefined && { masker: () => maskerOf(opened) }),
    gateOptions: { ...held.gateOptions, vault: createVault(() => vault.secrets()) },
  };
}

/** Without secrets there is nothing to look for in what servers say. */
const maskerOf = (opened: OpenedVault | undefined): Masker | undefined =>
  opened === undefined || opened.secrets.length === 0 ? undefined : createMasker(opened.secrets);

interface OpenedKeys {
  readonly keys: KeyPair;
  /** Why they must not be used. */
  readonly whyUnused?: string;
}

/** Somebody put one of the files of keys back: a gate can deny without signing. */
async function openAnyway(home: Home, unlock: Unlock): Promise<OpenedKeys> {
  try {
    return { keys: await openKeys(home, unlock) };
  } catch (error) {
    const codes = ["home_invalid", "key_rejected", "vault_invalid"] as const;
    if (!codes.some((code) => isConsentError(error, code))) throw error;
    const keys = await openPrivatePair(home, unlock);
    return { keys, whyUnused: `${asError(error).message}; ${MEND}` };
  }
}

/** No secret is released then, and whoever needs one is told so. */
function unopened(error: unknown): undefined {
  if (!isVaultFault(error)) throw error;
}

/** Logs that cannot be read may note that keys were rotated away. */
async function whyStopped(
  home: Home,
  noted: NotedFollower,
  periods: () => Promise<readonly KeyPeriod[]>,
): Promise<string | undefined> {
  try {
    return await whyKeysOlder(home, await noted.newest(), periods);
  } catch (error) {
    return asError(error).message;
  }
}

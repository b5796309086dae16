/**
 * Keys and vault of a gate: opened once, when it starts.
 */
import { ConsentError } from "@acp/core";
import type { GateOptions, Masker } from "@acp/core";
import { createConsentSigner } from "@acp/core/proof";
import type { KeyPair } from "@acp/core/proof";
import { createMasker, createVault } from "@acp/core/vault";
import type { Secret, VaultMark } from "@acp/core/vault";
import { readVaultFile, signerInUse } from "@acp/home";
import type { Home } from "@acp/home";
import type { Invocation } from "../command.js";
import { controllingTerminal } from "../home/hidden-prompt.js";
import type { Terminal } from "../home/hidden-prompt.js";
import { hasKeys, openKeys } from "../home/unlock.js";
import { checkRollback } from "../logs/vault-log.js";

/** The home's keys, open. */
export interface HomeKeys {
  /** `undefined` where the home has none. */
  readonly keys: KeyPair | undefined;
  /** What a gate takes from them. */
  readonly gateOptions: Pick<GateOptions, "signer" | "vault">;
  /** Takes the secrets out of what servers say, as they were when the gate started. */
  readonly masker?: () => Masker | undefined;
}

/**
 * Opens keys and vault; without keys answers are not signed and no secret is known.
 *
 * @param find - Where to ask for a passphrase. Standard input is MCP's, and so is the terminal of
 *   most clients: with --tty alone, unless given.
 * @throws ConsentError `key_locked` where the key does not open, `vault_invalid` where the vault
 *   does not, or is not the one that was saved last.
 */
export async function openHomeKeys(
  home: Home,
  invocation: Invocation,
  find: () => Terminal | undefined | Promise<Terminal | undefined> = () =>
    invocation.flags.has("tty") ? controllingTerminal() : undefined,
): Promise<HomeKeys> {
  if (!(await hasKeys(home))) return { keys: undefined, gateOptions: {} };
  const keys = await openKeys(home, invocation, find);
  const opened = await readVaultFile(home, keys);
  await checkRollback(home, opened.mark);
  const signer = createConsentSigner(signerInUse(home, keys));
  return {
    keys,
    masker: () => createMasker(opened.secrets),
    gateOptions: { signer, vault: createVault(liveSecrets(home, keys, opened)) },
  };
}

/**
 * The secrets as the file has them at each release, so that one that was removed goes nowhere any
 * more. The same list while nothing changes.
 */
function liveSecrets(
  home: Home,
  keys: KeyPair,
  opened: { readonly secrets: readonly Secret[]; readonly mark: VaultMark },
): () => Promise<readonly Secret[]> {
  let last = { mark: opened.mark, secrets: Object.freeze([...opened.secrets]) };
  return async () => {
    const { mark, secrets } = await readVaultFile(home, keys);
    if (mark.hash === last.mark.hash) return last.secrets;
    if (mark.counter <= last.mark.counter)
      throw new ConsentError(
        "vault_invalid",
        "Cannot use the vault: an older version was put back",
      );
    last = { mark, secrets: Object.freeze([...secrets]) };
    return last.secrets;
  };
}

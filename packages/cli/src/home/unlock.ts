/**
 * Unlock: what opens the home's private key. A passphrase from a terminal or a file, or a key file.
 * Never from an argument or a variable.
 */
import { join, resolve } from "node:path";
import { ConsentError } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import {
  createFileAtomic,
  makeKeyFile,
  makePrivateDirectory,
  readPrivateFile,
  readUnlockKind,
  unlockKeys,
} from "@acp/home";
import type { Home, Unlock } from "@acp/home";
import type { Invocation } from "../command.js";
import { exists } from "./exists.js";
import { askHidden, terminalOf } from "./hidden-prompt.js";
import type { Terminal } from "./hidden-prompt.js";

/** What of a command line says how to open the key. */
export type UnlockContext = Pick<Invocation, "values" | "io">;

const FILE_BYTES_MAX = 8_192;

/** Where the key file is, unless the command line or `ACP_KEY_FILE` names another one. */
export function keyFilePath(home: Home, { values, io }: UnlockContext): string {
  const named = values["key-file"] ?? io.env["ACP_KEY_FILE"];
  return named === undefined ? join(home.keysDir, "unlock.key") : resolve(io.cwd, named);
}

/**
 * The passphrase of `ACP_PASSPHRASE_FILE`: its first line; `undefined` where the variable is not
 * set.
 */
export async function passphraseFromFile({ io }: UnlockContext): Promise<string | undefined> {
  const file = io.env["ACP_PASSPHRASE_FILE"];
  if (file === undefined) return undefined;
  const [line = ""] = (await readPrivateFile(resolve(io.cwd, file), FILE_BYTES_MAX)).split(/\r?\n/);
  return line;
}

/** Where to ask, if it comes to that. */
type FindTerminal = (io: Invocation["io"]) => Terminal | undefined | Promise<Terminal | undefined>;

/**
 * Opens the private key of a home, asking on a terminal where that is needed and nothing is given
 * that opens it.
 *
 * @throws ConsentError `key_locked` where it does not open or where nobody can be asked,
 *   `home_invalid` where there is none.
 */
export async function openKeys(home: Home, by: UnlockContext | Unlock): Promise<KeyPair> {
  // Asked only where an interrupted rotation is completed.
  const clock = {
    now: async () => (await import("./key-clock.js")).logNow(home),
    vaultCounter: async () => (await import("../logs/vault-log.js")).lastVaultCounter(home),
  };
  return unlockKeys(home, "kind" in by ? by : await readUnlock(home, by), clock);
}

/**
 * What opens the private key again later without asking anybody: the files of now, or else what was
 * typed at the start.
 *
 * @returns A function that rejects with `key_locked` where that is no longer enough.
 */
export function unlockAgain(
  home: Home,
  context: UnlockContext,
  typed: Unlock,
): () => Promise<Unlock> {
  const isTyped =
    typed.kind === "passphrase" && context.io.env["ACP_PASSPHRASE_FILE"] === undefined;
  return async () =>
    isTyped && (await readUnlockKind(home)) === "passphrase"
      ? typed
      : readUnlock(home, context, () => undefined);
}

/** What opens the private key; see {@link openKeys}. */
export async function readUnlock(
  home: Home,
  context: UnlockContext,
  find: FindTerminal = terminalOf,
): Promise<Unlock> {
  if ((await readUnlockKind(home)) === "key-file")
    return {
      kind: "key-file",
      text: await readPrivateFile(keyFilePath(home, context), FILE_BYTES_MAX),
    };
  const given = await passphraseFromFile(context);
  if (given !== undefined) return { kind: "passphrase", passphrase: given };
  using terminal = await find(context.io);
  if (terminal === undefined)
    throw new ConsentError(
      "key_locked",
      'Cannot open the private key: it needs a passphrase and there is no terminal to ask on; put the passphrase into a file that only you can read, and set ACP_PASSPHRASE_FILE to its path in this program\'s environment (for an MCP client: in the "env" of the server in its configuration)',
    );
  return {
    kind: "passphrase",
    passphrase: await askHidden(terminal, "Passphrase of the private key: "),
  };
}

/** What a new key is sealed under, and the key file where one was made. */
export interface NewUnlock {
  readonly unlock: Unlock;
  readonly keyFile?: string;
  readonly isKeyFileNew: boolean;
}

/**
 * Chooses what a new private key is sealed under: `--key-file` or `ACP_KEY_FILE`, else a passphrase
 * from `ACP_PASSPHRASE_FILE` or a terminal, else a key file in the home.
 *
 * @throws ConsentError `options_invalid` where two typed passphrases differ, `home_invalid` where a
 *   file cannot be used.
 */
export async function chooseUnlock(home: Home, context: UnlockContext): Promise<NewUnlock> {
  const { values, io } = context;
  const isKeyFile = values["key-file"] !== undefined || io.env["ACP_KEY_FILE"] !== undefined;
  const passphrase = isKeyFile
    ? ""
    : ((await passphraseFromFile(context)) ?? (await askNew(context)));
  if (passphrase !== "") return { unlock: { kind: "passphrase", passphrase }, isKeyFileNew: false };
  const keyFile = keyFilePath(home, context);
  if (!isKeyFile) await makePrivateDirectory(home.keysDir);
  const isKeyFileNew = await createFileAtomic(keyFile, makeKeyFile());
  return {
    unlock: { kind: "key-file", text: await readPrivateFile(keyFile, FILE_BYTES_MAX) },
    keyFile,
    isKeyFileNew,
  };
}

async function askNew({ io }: UnlockContext): Promise<string> {
  using terminal = terminalOf(io);
  if (terminal === undefined) return "";
  const first = await askHidden(
    terminal,
    "New passphrase for the private key (empty: a key file instead): ",
  );
  if (first === "") return "";
  if ((await askHidden(terminal, "Repeat the passphrase: ")) === first) return first;
  throw new ConsentError("options_invalid", "Cannot use the passphrase: the two entries differ");
}

/** Whether a home has a private key or a vault: one without the other must be seen. */
export async function hasKeys({ privateKeyPath, vaultPath }: Home): Promise<boolean> {
  return (await Promise.all([privateKeyPath, vaultPath].map(exists))).some(Boolean);
}

/**
 * Backup unlock: what seals and opens a backup: a key file, the passphrase of
 * `ACP_PASSPHRASE_FILE`, or what is typed. None may lie in the home: nothing would open the backup
 * of a home that is lost.
 */
import { resolve } from "node:path";
import { ConsentError, quoteText } from "@acp/core";
import { readPrivateFile } from "@acp/home";
import type { Unlock } from "@acp/home";
import { askHidden, terminalOf } from "../home/hidden-prompt.js";
import { passphraseFromFile } from "../home/unlock.js";
import type { UnlockContext } from "../home/unlock.js";
import { isInside } from "./is-inside.js";

const FILE_BYTES_MAX = 8_192;

/**
 * What seals a new backup.
 *
 * @param dir - The home that is backed up.
 * @throws ConsentError `options_invalid` where nothing suitable is given and nobody can be asked.
 */
export async function chooseBackupUnlock(dir: string, context: UnlockContext): Promise<Unlock> {
  const { io } = context;
  const keyFile = keyFileOf(context);
  if (keyFile !== undefined) {
    await refuseInside(dir, keyFile);
    return { kind: "key-file", text: await readPrivateFile(keyFile, FILE_BYTES_MAX) };
  }
  const file = io.env["ACP_PASSPHRASE_FILE"];
  if (file !== undefined) await refuseInside(dir, resolve(io.cwd, file));
  const given = await passphraseFromFile(context);
  if (given !== undefined) return { kind: "passphrase", passphrase: given };
  using terminal = terminalOf(io);
  if (terminal === undefined) throw nobody("passphrase");
  const passphrase = await askHidden(terminal, "New passphrase for the backup: ");
  if ((await askHidden(terminal, "Repeat the passphrase: ")) === passphrase)
    return { kind: "passphrase", passphrase };
  throw new ConsentError("options_invalid", "Cannot use the passphrase: the two entries differ");
}

/** What opens a backup that is sealed in this way; see {@link chooseBackupUnlock}. */
export async function readBackupUnlock(
  kind: Unlock["kind"],
  context: UnlockContext,
): Promise<Unlock> {
  if (kind === "key-file") {
    const keyFile = keyFileOf(context);
    if (keyFile === undefined) throw nobody(kind);
    return { kind, text: await readPrivateFile(keyFile, FILE_BYTES_MAX) };
  }
  const given = await passphraseFromFile(context);
  if (given !== undefined) return { kind, passphrase: given };
  using terminal = terminalOf(context.io);
  if (terminal === undefined) throw nobody(kind);
  return { kind, passphrase: await askHidden(terminal, "Passphrase of the backup: ") };
}

function keyFileOf({ values, io }: UnlockContext): string | undefined {
  const file = values["key-file"] ?? io.env["ACP_KEY_FILE"];
  return file === undefined ? undefined : resolve(io.cwd, file);
}

async function refuseInside(dir: string, file: string): Promise<void> {
  if (!(await isInside(dir, file))) return;
  throw new ConsentError(
    "options_invalid",
    `Cannot seal a backup with ${quoteText(file)}: it is in the home, so that it would be lost with it; name another file with --key-file or ACP_PASSPHRASE_FILE`,
  );
}

function nobody(kind: Unlock["kind"]): ConsentError {
  return new ConsentError(
    "key_locked",
    kind === "key-file"
      ? "Cannot open the backup: it needs the key file that it was made with; name it with --key-file"
      : "Cannot ask for the passphrase of the backup: standard input is not a terminal; name a file with ACP_PASSPHRASE_FILE or --key-file",
  );
}

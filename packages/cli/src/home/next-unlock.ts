/**
 * Next unlock: what is to open a private key that opens already. Asked on a terminal, or the first
 * line of standard input; never an argument.
 */
import type { Home } from "@acp/home";
import { readInput } from "../input.js";
import { chooseUnlock } from "./unlock.js";
import type { NewUnlock, UnlockContext } from "./unlock.js";

const LINE_BYTES_MAX = 8_192;

/**
 * Chooses a new passphrase, or the key file of `--key-file`; an empty passphrase is a key file too.
 * What `ACP_PASSPHRASE_FILE` and `ACP_KEY_FILE` name opens the key now, and says nothing here.
 *
 * @throws ConsentError as {@link chooseUnlock}.
 */
export async function chooseNextUnlock(
  home: Home,
  { values, io }: UnlockContext,
): Promise<NewUnlock> {
  const { ACP_PASSPHRASE_FILE: _opens, ACP_KEY_FILE: _file, ...env } = io.env;
  const context = { values, io: { ...io, env } };
  if (values["key-file"] !== undefined || io.stdin.isTTY) return chooseUnlock(home, context);
  const text = await readInput("-", io, { what: "passphrase", bytesMax: LINE_BYTES_MAX });
  const [passphrase = ""] = text.split(/\r?\n/);
  return passphrase === ""
    ? chooseUnlock(home, context)
    : { unlock: { kind: "passphrase", passphrase }, isKeyFileNew: false };
}

/**
 * Unlock the resident: hands it a passphrase that a person typed, over the socket of people's
 * commands.
 */
import { ConsentError } from "@acp/core";
import type { Home } from "@acp/home";
import type { Invocation } from "../command.js";
import { askIfOurs } from "./control.js";
import { startFor } from "./start-for.js";

/**
 * Unlocks the home's key in its resident, which is started where none runs.
 *
 * @returns Until when.
 * @throws ConsentError `key_locked`, `index_rebuilding`, `home_busy`.
 */
export async function unlockResident(
  home: Home,
  invocation: Invocation,
  passphrase: string,
): Promise<string> {
  const places = await startFor(home, invocation);
  const told = await askIfOurs(places, { ask: "unlock", passphrase });
  if (typeof told === "string")
    throw new ConsentError(
      "home_busy",
      "The resident gate does not answer; run: acp resident restart",
    );
  if (told["unlocked"] === true) return String(told["until"]);
  const code = told["code"] === "index_rebuilding" ? "index_rebuilding" : "key_locked";
  throw new ConsentError(code, String(told["message"]));
}

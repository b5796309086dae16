/**
 * `acp unlock` and `acp lock`: the key of the home in its resident. The passphrase is typed on a
 * terminal or is the first line of standard input; it goes to the resident and nowhere else.
 */
import { realpathSync } from "node:fs";
import { ConsentError } from "@acp/core";
import { readUnlockKind } from "@acp/home";
import type { Invocation, Run } from "../command.js";
import { askHidden, terminalOf } from "../home/hidden-prompt.js";
import { homeOf } from "../home/home-source.js";
import { hasKeys } from "../home/unlock.js";
import { readInput } from "../input.js";
import { askIfOurs } from "../resident/control.js";
import { placesOf } from "../resident/places.js";
import { unlockResident } from "../resident/unlock-resident.js";

const LINE_BYTES_MAX = 8_192;

/** Runs `acp unlock`. */
export const unlock: Run = async (invocation) => {
  const { print } = invocation;
  const home = await homeOf(invocation);
  if (!(await hasKeys(home)) || (await readUnlockKind(home)) === "key-file") {
    print.result({ unlocked: true, until: null }, () => [
      "This home needs no passphrase: there is nothing to unlock",
    ]);
    return "nothing";
  }
  const until = await unlockResident(home, invocation, await readPassphrase(invocation));
  print.result({ unlocked: true, until }, () => [
    `Unlocked until ${until}; acp lock ends it earlier`,
  ]);
  return "ok";
};

/** Runs `acp lock`. */
export const lock: Run = async (invocation) => {
  const { print, io } = invocation;
  const home = realpathSync((await homeOf(invocation)).dir);
  const places = placesOf(home, { env: io.env, uid: process.getuid?.() ?? -1 });
  const told = await askIfOurs(places, { ask: "lock" });
  if (told === "hung")
    throw new ConsentError(
      "home_busy",
      "The resident gate does not answer; run: acp resident restart",
    );
  const wasOpen = told !== "none" && told["was_unlocked"] === true;
  print.result({ locked: true, was_unlocked: wasOpen }, () => [
    wasOpen
      ? "Locked: every call is denied until acp unlock"
      : "No key was unlocked with acp unlock",
  ]);
  return wasOpen ? "ok" : "nothing";
};

async function readPassphrase({ io }: Invocation): Promise<string> {
  using terminal = terminalOf(io);
  if (terminal !== undefined) return await askHidden(terminal, "Passphrase of the private key: ");
  const text = await readInput("-", io, { what: "passphrase", bytesMax: LINE_BYTES_MAX });
  const [line = ""] = text.split(/\r?\n/);
  return line;
}

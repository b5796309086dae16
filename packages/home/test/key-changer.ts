/**
 * A process that changes the keys of a home until it is killed. Arguments: the home, the texts of
 * two key files, and what to do. Says `ready` on stdout.
 */
import { writeSync } from "node:fs";
import { signerInUse } from "../src/key-in-use.js";
import { repairPeriods, readPublicKeys, unlockKeys } from "../src/keys.js";
import { changeUnlock, resetKeys } from "../src/keys-reset.js";
import { homePaths } from "../src/paths.js";
import type { Unlock } from "../src/private-key.js";

const [dir = "", one = "", other = "", task = ""] = process.argv.slice(2);
const home = homePaths(dir);
const unlockOf = (text: string): Unlock => ({ kind: "key-file", text: `${text}\n` });
const both = [unlockOf(one), unlockOf(other)] as const;

/** Seals the key for one file and for the other in turn. */
async function changeUnlocks(): Promise<void> {
  for (let [from, to]: readonly [Unlock, Unlock] = both; ; [from, to] = [to, from])
    await changeUnlock(home, { from, to }).catch(() => undefined);
}

/** Signs at ever earlier times, and mends what was not said. */
async function goBack(): Promise<void> {
  const keys = await unlockKeys(home, both[0]);
  for (let atMs = Date.now(); ; atMs -= 1_000) {
    const timestamp = new Date(atMs).toISOString();
    await signerInUse(home, keys).sign(
      new TextEncoder().encode(`acp/consent/v2\n${JSON.stringify({ timestamp })}`),
    );
    writeSync(1, `${atMs}\n`);
    const retired = (await readPublicKeys(home)).at(-1);
    if (retired !== undefined)
      await repairPeriods(home, [{ publicKey: retired.publicKey, atMs: atMs - 9e8 }]);
  }
}

async function reset(): Promise<void> {
  for (let vaultCounter = 9; ; vaultCounter++)
    await resetKeys({ home, unlock: both[vaultCounter % 2] ?? both[0], vaultCounter });
}

writeSync(1, "ready\n");
const tasks = new Map([
  ["unlock", changeUnlocks],
  ["back", goBack],
  ["reset", reset],
]);
await tasks.get(task)?.();

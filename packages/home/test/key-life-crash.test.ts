/**
 * Changes of keys that are killed at random moments: of each file there is the one or the other,
 * and one command later everything works.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { bundled } from "../../../tools/bundled.js";
import { inLane } from "../../../tools/deep.js";
import { type Home, initHome } from "../src/home.js";
import { initKeys, readPublicKeys, rotateKeys, unlockKeys } from "../src/keys.js";
import { resetKeys } from "../src/keys-reset.js";
import { makeKeyFile, type Unlock } from "../src/private-key.js";
import { isWithin } from "../src/public-keys.js";
import { readVaultFile } from "../src/vault-file.js";
import { scratchDirectory } from "./support.js";

const KILLS = inLane(200);
const CHANGER = await bundled(new URL("key-changer.ts", import.meta.url));

interface World {
  readonly home: Home;
  readonly one: Unlock;
  readonly other: Unlock;
  /** Lets a process work at it, and kills that; what it said. */
  killed(task: "unlock" | "back" | "reset"): Promise<string>;
}

async function world(): Promise<World> {
  const { home } = await initHome(join(await scratchDirectory(), "h"));
  const [one, other] = [makeKeyFile(), makeKeyFile()];
  await initKeys(home, { kind: "key-file", text: one });
  return {
    home,
    one: { kind: "key-file", text: one },
    other: { kind: "key-file", text: other },
    async killed(task) {
      const args = [CHANGER, home.dir, one.trim(), other.trim(), task];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      let said = "";
      child.stdout.on("data", (chunk) => (said += String(chunk)));
      const closed = once(child, "close");
      await once(child.stdout, "data");
      await wait(Math.random() * 60);
      child.kill("SIGKILL");
      expect((await closed)[1]).toBe("SIGKILL");
      return said;
    },
  };
}

it(`changeUnlock() killed ${KILLS} times leaves a key that the one or the other opens`, async () => {
  const { home, one, other, killed } = await world();
  const { publicKey } = await unlockKeys(home, one);
  for (let round = 0; round < KILLS; round++) {
    await killed("unlock");
    const opened = await Promise.allSettled([one, other].map((by) => unlockKeys(home, by)));
    expect(
      opened.flatMap((each) => (each.status === "fulfilled" ? [each.value.publicKey] : [])),
    ).toEqual([publicKey]);
  }
});

it(`signerInUse() and repairPeriods() killed ${KILLS} times signed nothing outside of its key's time`, async () => {
  const { home, one, killed } = await world();
  await rotateKeys(home, one);
  const { publicKey } = await unlockKeys(home, one);
  for (let round = 0; round < KILLS; round++) {
    const times = (await killed("back")).split("\n").slice(1, -1).map(Number);
    const periods = await readPublicKeys(home);
    expect(times.filter((atMs) => !isWithin(periods, { publicKey, atMs }))).toEqual([]);
  }
});

it(`resetKeys() killed ${KILLS} times can be done again, and loses no copy`, async () => {
  const { home, one, other, killed } = await world();
  const first = await readPublicKeys(home);
  const { publicKey } = await unlockKeys(home, one);
  let copies: readonly string[] = [];
  for (let round = 0; round < KILLS; round++) {
    await killed("reset");
    const names = [...(await readdir(home.dir)), ...(await readdir(home.keysDir))];
    expect(names).toEqual(expect.arrayContaining([...copies]));
    copies = names.filter((name) => name.includes(".lost-"));
    const unlock: Unlock = { kind: "key-file", text: makeKeyFile() };
    const { keys } = await resetKeys({ home, unlock, vaultCounter: 10_000 + round });
    expect((await unlockKeys(home, unlock)).publicKey).toBe(keys.publicKey);
    expect((await readVaultFile(home, keys)).secrets).toEqual([]);
    expect((await readPublicKeys(home)).at(-1)).toMatchObject({
      publicKey,
      fromMs: first[0]?.fromMs,
    });
  }
  await expect(unlockKeys(home, other)).rejects.toMatchObject({ code: "key_locked" });
});

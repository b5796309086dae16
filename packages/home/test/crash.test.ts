/**
 * Rotations that are killed at random moments: whatever was under way, one unlock later everything
 * opens.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { revealSecret, Secret, sealField } from "@acp/core/vault";
import { expect, it } from "vitest";
import { bundled } from "../../../tools/bundled.js";
import { findEncryptedFields, openConfigField } from "../src/encrypted-field.js";
import { initHome } from "../src/home.js";
import { initKeys, readPublicKeys, unlockKeys } from "../src/keys.js";
import { makeKeyFile } from "../src/private-key.js";
import { changeVaultFile, readVaultFile, withSecret } from "../src/vault-file.js";
import { scratchDirectory } from "./support.js";

const KILLS = Number(process.env["ACP_KILLS"] ?? 12);
const ROTATOR = await bundled(new URL("rotator.ts", import.meta.url));
const FIELD = "telegram.bot_token";

async function rotateAndKill(dir: string, keyFile: string, afterMs: number): Promise<void> {
  const child = spawn(process.execPath, [ROTATOR, dir, keyFile.trim()], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  await Promise.race([once(child.stdout, "data"), ended]);
  await wait(afterMs);
  child.kill("SIGKILL");
  expect(await ended).toEqual([null, "SIGKILL"]);
}

it(`rotateKeys() survives being killed ${KILLS} times at random moments`, async () => {
  const { home } = await initHome(join(await scratchDirectory(), "h"));
  const text = makeKeyFile();
  const unlock = { kind: "key-file", text } as const;
  const first = await initKeys(home, unlock);
  await changeVaultFile(home, first.keys, (secrets) =>
    withSecret(secrets, new Secret({ name: "TOKEN", value: "a secret value" })),
  );
  await writeFile(
    home.configPath,
    `telegram: { bot_token: "${sealField("123:abc", FIELD, first.keys.exportSeed())}", chat_id: "1" }\n`,
  );
  let resumed = 0;
  let rotated = 0;
  // A machine that is busy with other things has not begun to rotate by then: it is given longer
  // each time.
  let patienceMs = 60;
  for (
    let round = 0;
    round < KILLS || rotated === 0;
    round++, patienceMs *= rotated === 0 ? 2 : 1
  ) {
    await rotateAndKill(home.dir, text, Math.random() * patienceMs);
    const before = await readFile(home.privateKeyPath, "utf8");
    const keys = await unlockKeys(home, unlock);
    if ((await readFile(home.privateKeyPath, "utf8")) !== before) resumed++;
    const vault = await readVaultFile(home, keys);
    expect(vault.secrets.map(revealSecret)).toEqual(["a secret value"]);
    const sealed = findEncryptedFields(await readFile(home.configPath, "utf8")).get(FIELD) ?? "";
    expect(openConfigField(sealed, FIELD, keys)).toBe("123:abc");
    // Every rotation saved the vault once more: none was half done and forgotten.
    rotated = (await readPublicKeys(home)).length - 1;
    expect(vault.counter).toBe(2 + rotated);
  }
  process.stdout.write(
    `killed ${KILLS} times: ${rotated} rotations, ${resumed} of them completed by the next unlock\n`,
  );
});

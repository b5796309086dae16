import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { KeyPair } from "@acp/core/proof";
import { revealSecret, Secret, sealField } from "@acp/core/vault";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { type Home, initHome } from "./home.js";
import { initKeys, readPublicKeys, readUnlockKind, rotationSteps, unlockKeys } from "./keys.js";
import { changeUnlock, resetKeys, resetSteps } from "./keys-reset.js";
import { makeKeyFile, type Unlock } from "./private-key.js";
import { changeVaultFile, readVaultFile, withSecret } from "./vault-file.js";
import { holdWriter } from "./writer-lock.js";

const lost: Unlock = { kind: "key-file", text: makeKeyFile() };
const next: Unlock = { kind: "key-file", text: makeKeyFile() };
const NOW = Date.UTC(2026, 0, 15);
const at = (ms: number): { now: () => number } => ({ now: () => ms });

async function makeHome(): Promise<{ readonly home: Home; readonly keys: KeyPair }> {
  const { home } = await initHome(join(await scratchDirectory(), "h"));
  const { keys } = await initKeys(home, lost, at(NOW));
  await changeVaultFile(home, keys, (secrets) =>
    withSecret(secrets, new Secret({ name: "TOKEN", value: "a secret value" })),
  );
  const sealed = sealField("123:abc", "telegram.bot_token", keys.exportSeed());
  await writeFile(
    home.configPath,
    `version: "1"\ntelegram: { bot_token: "${sealed}", chat_id: "1" }\n`,
    { mode: 0o600 },
  );
  return { home, keys };
}

describe("changeUnlock()", () => {
  it("seals the same keys for something else, which then alone opens them", async () => {
    const { home, keys } = await makeHome();
    const passphrase: Unlock = { kind: "passphrase", passphrase: "correct horse" };
    expect(await changeUnlock(home, { from: lost, to: passphrase })).toBe(keys.publicKey);
    expect(await readUnlockKind(home)).toBe("passphrase");
    await expect(unlockKeys(home, lost)).rejects.toMatchObject({ code: "key_locked" });
    const opened = await unlockKeys(home, passphrase);
    expect((await readVaultFile(home, opened)).secrets.map(revealSecret)).toEqual([
      "a secret value",
    ]);
    expect(await readPublicKeys(home)).toEqual([{ publicKey: keys.publicKey, fromMs: NOW }]);
  });

  it("completes a rotation that was cut off before it", async () => {
    const { home, keys: from } = await makeHome();
    const { home: blank } = await initHome(join(await scratchDirectory(), "h"));
    const { keys: to } = await initKeys(blank, lost, at(NOW));
    const [first] = rotationSteps({ home, unlock: lost, clock: at(NOW + 1), from, to });
    await first?.();
    const changed = await changeUnlock(home, { from: lost, to: next, clock: at(NOW + 2) });
    expect(changed).toBe(to.publicKey);
    expect(await readVaultFile(home, await unlockKeys(home, next))).toMatchObject({ counter: 3 });
  });

  it("changes nothing where the old one does not open, or the new one is unsuitable", async () => {
    const { home } = await makeHome();
    const before = await readFile(home.privateKeyPath, "utf8");
    await expect(changeUnlock(home, { from: next, to: next })).rejects.toMatchObject({
      code: "key_locked",
    });
    expect(() =>
      changeUnlock(home, { from: lost, to: { kind: "passphrase", passphrase: "short" } }),
    ).toThrow(expect.objectContaining({ code: "options_invalid" }));
    expect(await readFile(home.privateKeyPath, "utf8")).toBe(before);
  });
});

describe("resetKeys()", () => {
  const plan = (home: Home) =>
    ({ home, unlock: next, vaultCounter: 7, clock: at(NOW + 1_000) }) as const;

  it("makes new keys and an empty vault, keeps the old key as trusted and sets the rest aside", async () => {
    const { home, keys: old } = await makeHome();
    const before = {
      "private.key": await readFile(home.privateKeyPath, "utf8"),
      "vault.json": await readFile(home.vaultPath, "utf8"),
    };
    const { keys, previousPublicKey, setAside, lostFields } = await resetKeys(plan(home));
    expect(previousPublicKey).toBe(old.publicKey);
    expect(lostFields).toEqual(["telegram.bot_token"]);
    expect((await unlockKeys(home, next)).publicKey).toBe(keys.publicKey);
    expect(await readVaultFile(home, keys)).toMatchObject({ counter: 7, secrets: [] });
    expect(await readPublicKeys(home)).toEqual([
      { publicKey: keys.publicKey, fromMs: NOW + 1_000 },
      { publicKey: old.publicKey, fromMs: NOW, untilMs: NOW + 1_000 },
    ]);
    const copies = await Promise.all(setAside.map((path) => readFile(path, "utf8")));
    expect(copies).toEqual(Object.values(before));
    expect(setAside.map((path) => basename(path))).toEqual([
      expect.stringMatching(/^private\.key\.lost-[0-9a-f]{8}$/),
      expect.stringMatching(/^vault\.json\.lost-[0-9a-f]{8}$/),
    ]);
  });

  it("refuses where the key opens, and does not where its file is gone", async () => {
    const { home, keys } = await makeHome();
    await expect(resetKeys({ ...plan(home), unlock: lost })).rejects.toMatchObject({
      code: "options_invalid",
      message: expect.stringContaining("acp keys rotate") as string,
    });
    expect((await unlockKeys(home, lost)).publicKey).toBe(keys.publicKey);
    await rm(home.privateKeyPath);
    await rm(home.vaultPath);
    expect((await resetKeys({ ...plan(home), unlock: lost })).setAside).toEqual([]);
    expect((await unlockKeys(home, lost)).publicKey).not.toBe(keys.publicKey);
  });

  it("says nothing of fields where the configuration does not load", async () => {
    const { home } = await makeHome();
    await writeFile(home.configPath, "a: [", { mode: 0o600 });
    expect((await resetKeys(plan(home))).lostFields).toEqual([]);
  });

  it.each([0, 1, 2, 3, 4])("may be done again after a crash after step %i", async (done) => {
    const { home, keys: old } = await makeHome();
    const { home: blank } = await initHome(join(await scratchDirectory(), "h"));
    const { keys: forgotten } = await initKeys(blank, next, at(NOW));
    const steps = resetSteps(plan(home), forgotten);
    expect(steps).toHaveLength(5);
    for (const step of steps.slice(0, done)) await step();
    const { keys } = await resetKeys(plan(home));
    expect((await unlockKeys(home, next)).publicKey).toBe(keys.publicKey);
    expect(await readVaultFile(home, keys)).toMatchObject({ secrets: [] });
    expect((await readPublicKeys(home)).map(({ publicKey }) => publicKey)).toContain(old.publicKey);
    const names = await readdir(home.dir);
    const aside = names.filter((name) => name.startsWith("vault.json.lost-"));
    expect(aside.length).toBeGreaterThanOrEqual(1);
  });
});

it("resetKeys() asks for the vault's counter while nobody else can change the home", async () => {
  const { home } = await makeHome();
  let asked = 0;
  const vaultCounter = async (): Promise<number> => {
    asked++;
    await expect(holdWriter(home.dir, 1)).rejects.toMatchObject({ code: "home_busy" });
    return 9;
  };
  const { keys } = await resetKeys({ home, unlock: next, vaultCounter, clock: at(NOW) });
  expect([asked, (await readVaultFile(home, keys)).counter]).toEqual([1, 9]);
});

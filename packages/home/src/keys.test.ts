import {
  chmod,
  cp,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { KeyPair } from "@acp/core/proof";
import { Secret, revealSecret, sealField } from "@acp/core/vault";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { openConfigField } from "./encrypted-field.js";
import { type Home, initHome } from "./home.js";
import {
  initKeys,
  readPublicKeys,
  readUnlockKind,
  rotateKeys,
  rotationSteps,
  unlockKeys,
} from "./keys.js";
import { homePaths } from "./paths.js";
import { makeKeyFile, sealSeeds, type Unlock } from "./private-key.js";
import { changeVaultFile, readVaultFile, withSecret } from "./vault-file.js";

const unlock: Unlock = { kind: "key-file", text: makeKeyFile() };
const other: Unlock = { kind: "key-file", text: makeKeyFile() };
const NOW = Date.UTC(2026, 0, 15);

const at = (ms: number): { now: () => number } => ({ now: () => ms });

interface Made {
  readonly home: Home;
  readonly keys: KeyPair;
}

/** A home with a secret in its vault and an encrypted field in its configuration. */
async function makeHome(): Promise<Made> {
  const { home } = await initHome(join(await scratchDirectory(), "h"));
  const { keys } = await initKeys(home, unlock, at(NOW));
  await changeVaultFile(home, keys, (secrets) =>
    withSecret(secrets, new Secret({ name: "TOKEN", value: "a secret value" })),
  );
  const sealed = sealField("123:abc", "telegram.bot_token", keys.exportSeed());
  await writeFile(
    home.configPath,
    `version: "1" # kept\ntelegram: { bot_token: "${sealed}", chat_id: "1" }\n`,
    { mode: 0o600 },
  );
  return { home, keys };
}

/** Everything that the keys of a home open. */
async function contents({ home, keys }: Made): Promise<unknown> {
  const { secrets } = await readVaultFile(home, keys);
  const config = await readFile(home.configPath, "utf8");
  const field = openConfigField(
    /encrypted:[\w-]+/.exec(config)?.[0] ?? "",
    "telegram.bot_token",
    keys,
  );
  return [secrets.map(revealSecret), field, config.startsWith('version: "1" # kept\n')];
}

const WHOLE = [["a secret value"], "123:abc", true];
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe("initKeys()", () => {
  it("makes private files in one go, and opens the same keys again", async () => {
    const { home } = await initHome(join(await scratchDirectory(), "h"));
    const { keys, created } = await initKeys(home, unlock, at(NOW));
    expect(created).toEqual([home.privateKeyPath, home.publicKeyPath, home.vaultPath]);
    expect(await modeOf(home.keysDir)).toBe(0o700);
    for (const path of created) expect(await modeOf(path)).toBe(0o600);
    expect(await readPublicKeys(home)).toEqual([{ publicKey: keys.publicKey, fromMs: NOW }]);
    expect((await readVaultFile(home, keys)).counter).toBe(1);
    expect((await unlockKeys(home, unlock, at(NOW))).publicKey).toBe(keys.publicKey);
    expect(await readUnlockKind(home)).toBe("key-file");
    const seed = Buffer.from(keys.exportSeed());
    for (const path of created)
      expect((await readFile(path)).includes(seed.toString("hex"))).toBe(false);
  });

  it("leaves what exists, makes what a crash left out, and takes no other key for it", async () => {
    const { home, keys } = await makeHome();
    const before = await readFile(home.privateKeyPath, "utf8");
    expect((await initKeys(home, unlock, at(NOW + 1))).created).toEqual([]);
    await rm(home.publicKeyPath);
    const again = await initKeys(home, unlock, at(NOW));
    expect(again.created).toEqual([home.publicKeyPath]);
    expect(again.keys.publicKey).toBe(keys.publicKey);
    await expect(initKeys(home, other, at(NOW))).rejects.toMatchObject({ code: "key_locked" });
    expect(await readFile(home.privateKeyPath, "utf8")).toBe(before);
  });

  it("works with a passphrase", async () => {
    const { home } = await initHome(join(await scratchDirectory(), "h"));
    const passphrase: Unlock = { kind: "passphrase", passphrase: "correct horse" };
    const { keys } = await initKeys(home, passphrase, at(NOW));
    expect((await unlockKeys(home, passphrase, at(NOW))).publicKey).toBe(keys.publicKey);
    await expect(
      unlockKeys(home, { kind: "passphrase", passphrase: "wrong horse" }, at(NOW)),
    ).rejects.toMatchObject({
      code: "key_locked",
    });
  });
});

describe("unlockKeys()", () => {
  it.each<[string, (home: Home) => Promise<void>, string]>([
    [
      "a private key that others may read",
      ({ privateKeyPath }) => chmod(privateKeyPath, 0o640),
      "chmod 600",
    ],
    ["a directory that others may enter", ({ keysDir }) => chmod(keysDir, 0o750), "chmod 700"],
    [
      "a public key that others may write",
      ({ publicKeyPath }) => chmod(publicKeyPath, 0o622),
      "chmod go-w",
    ],
    ["a missing private key", ({ privateKeyPath }) => rm(privateKeyPath), "does not exist"],
    ["a missing directory", ({ keysDir }) => rm(keysDir, { recursive: true }), "acp init"],
    [
      "a link in the key's place",
      async ({ privateKeyPath, dir }) => {
        await writeFile(join(dir, "k"), await readFile(privateKeyPath), { mode: 0o600 });
        await rm(privateKeyPath);
        await symlink(join(dir, "k"), privateKeyPath);
      },
      "symbolic link",
    ],
  ])("refuses %s", async (_name, spoil, text) => {
    const { home } = await makeHome();
    await spoil(home);
    await expect(unlockKeys(home, unlock, at(NOW))).rejects.toMatchObject({
      code: "home_invalid",
      message: expect.stringContaining(text) as string,
    });
  });

  it("refuses a public key that is not the private key's", async () => {
    const { home } = await makeHome();
    const { home: stranger } = await makeHome();
    await writeFile(home.publicKeyPath, await readFile(stranger.publicKeyPath));
    await expect(unlockKeys(home, unlock, at(NOW))).rejects.toMatchObject({ code: "home_invalid" });
  });
});

describe("rotateKeys()", () => {
  it("makes a new key, seals everything for it and keeps the old one as trusted until now", async () => {
    const { home, keys: old } = await makeHome();
    const before = await readVaultFile(home, old);
    const { keys, previousPublicKey } = await rotateKeys(home, unlock, at(NOW + 5_000));
    expect(previousPublicKey).toBe(old.publicKey);
    expect(await contents({ home, keys })).toEqual(WHOLE);
    expect((await readVaultFile(home, keys)).counter).toBe(before.counter + 1);
    await expect(readVaultFile(home, old)).rejects.toMatchObject({ code: "vault_invalid" });
    expect(await readPublicKeys(home)).toEqual([
      { publicKey: keys.publicKey, fromMs: NOW + 5_000 },
      { publicKey: old.publicKey, fromMs: NOW, untilMs: NOW + 5_000 },
    ]);
    expect((await unlockKeys(home, unlock, at(NOW))).publicKey).toBe(keys.publicKey);
    expect(await readdir(home.keysDir)).toEqual(["private.key", "public.key"]);
  });

  it("does without a configuration", async () => {
    const { home, keys: old } = await makeHome();
    await rm(home.configPath);
    const { keys } = await rotateKeys(home, unlock, at(NOW + 1));
    expect(keys.publicKey).not.toBe(old.publicKey);
    await expect(readFile(home.configPath)).rejects.toThrow("ENOENT");
    expect((await readVaultFile(home, keys)).secrets.map(revealSecret)).toEqual(["a secret value"]);
  });

  it("changes nothing where the vault or a field does not open, or the passphrase is another", async () => {
    const { home, keys } = await makeHome();
    const files = [home.privateKeyPath, home.publicKeyPath, home.vaultPath, home.configPath];
    const read = (): Promise<readonly string[]> =>
      Promise.all(files.map((path) => readFile(path, "utf8")));
    const config = await readFile(home.configPath, "utf8");
    await writeFile(home.configPath, config.replace("telegram:", "webhook:"));
    const moved = await read();
    await expect(rotateKeys(home, unlock, at(NOW))).rejects.toMatchObject({
      code: "vault_invalid",
    });
    expect(await read()).toEqual(moved);
    await writeFile(home.configPath, config);
    await expect(rotateKeys(home, other, at(NOW))).rejects.toMatchObject({ code: "key_locked" });
    const vault = await readFile(home.vaultPath, "utf8");
    await writeFile(home.vaultPath, vault.replace('"version": 1', '"version": 2'));
    await expect(rotateKeys(home, unlock, at(NOW))).rejects.toMatchObject({
      code: "vault_invalid",
    });
    await writeFile(home.vaultPath, vault);
    expect(await contents({ home, keys })).toEqual(WHOLE);
    expect((await unlockKeys(home, unlock, at(NOW))).publicKey).toBe(keys.publicKey);
  });

  it.each([0, 1, 2, 3, 4, 5])(
    "survives a crash after step %i, and a second one while it recovers",
    async (done) => {
      const { home, keys: from } = await makeHome();
      const { home: blank } = await initHome(join(await scratchDirectory(), "h"));
      const { keys: to } = await initKeys(blank, unlock, at(NOW));
      const steps = rotationSteps({ home, unlock, clock: at(NOW + 1_000), from, to });
      expect(steps).toHaveLength(5);
      for (const step of steps.slice(0, done)) await step();
      // The one who recovers is cut off after one more step, then somebody else recovers.
      if (done > 0) for (const step of steps.slice(1, done + 1)) await step();
      const keys = await unlockKeys(home, unlock, at(NOW + 2_000));
      expect(keys.publicKey).toBe((done === 0 ? from : to).publicKey);
      expect(await contents({ home, keys })).toEqual(WHOLE);
      expect((await readPublicKeys(home)).map(({ publicKey }) => publicKey)).toEqual(
        done === 0 ? [from.publicKey] : [to.publicKey, from.publicKey],
      );
      // Nothing of the rotation is left to do.
      expect((await rotateKeys(home, unlock, at(NOW + 3_000))).previousPublicKey).toBe(
        keys.publicKey,
      );
    },
  );

  it("is seen by who read the private key before it, and opens it afterwards", async () => {
    const { home } = await initHome(join(await scratchDirectory(), "h"));
    const passphrase: Unlock = { kind: "passphrase", passphrase: "correct horse" };
    await initKeys(home, passphrase);
    const copy = homePaths(join(await scratchDirectory(), "h"));
    await cp(home.dir, copy.dir, { recursive: true });
    const { keys } = await rotateKeys(copy, passphrase);
    // A passphrase takes half a second: meanwhile the files become those that the rotation left.
    const opening = unlockKeys(home, passphrase);
    await wait(20);
    for (const file of ["privateKeyPath", "vaultPath", "publicKeyPath"] as const)
      await rename(copy[file], home[file]);
    expect((await opening).publicKey).toBe(keys.publicKey);
  });

  it("lets several rotate at once, one after the other", async () => {
    const { home } = await makeHome();
    const rotations = await Promise.all(
      [1, 2, 3].map((step) => rotateKeys(home, unlock, at(NOW + step))),
    );
    const keys = await unlockKeys(home, unlock, at(NOW));
    expect(rotations.map((each) => each.keys.publicKey)).toContain(keys.publicKey);
    expect(await readPublicKeys(home)).toHaveLength(4);
    expect(await contents({ home, keys })).toEqual(WHOLE);
  });
});

it("unlockKeys() takes up no rotation that was finished, where a copy of its private key is back", async () => {
  const made = await makeHome();
  const { home, keys } = made;
  const { keys: to } = await rotateKeys(home, unlock, at(NOW + 1));
  const half = await sealSeeds({ current: to.exportSeed(), previous: keys.exportSeed() }, unlock);
  const vault = await readFile(home.vaultPath, "utf8");
  await rotateKeys(home, unlock, at(NOW + 2));
  await writeFile(home.privateKeyPath, half, { mode: 0o600 });
  await writeFile(home.vaultPath, vault, { mode: 0o600 });
  const published = await readFile(home.publicKeyPath, "utf8");
  await expect(unlockKeys(home, unlock)).rejects.toMatchObject({ code: "home_invalid" });
  expect(await readFile(home.publicKeyPath, "utf8")).toBe(published);
});

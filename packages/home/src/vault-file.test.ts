import { chmod, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateKeyPair } from "@acp/core/proof";
import { compareVaultMark, Secret } from "@acp/core/vault";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { type HomePaths, homePaths } from "./paths.js";
import {
  changeVaultFile,
  createVaultFile,
  readVaultFile,
  withoutSecret,
  withSecret,
} from "./vault-file.js";

const keys = generateKeyPair();
const make = (name: string): Secret => new Secret({ name, value: "a secret value" });
const names = async (home: HomePaths): Promise<readonly string[]> =>
  (await readVaultFile(home, keys)).secrets.map(({ name }) => name);

async function makeVault(): Promise<HomePaths> {
  const home = homePaths(await scratchDirectory());
  await createVaultFile(home, keys);
  return home;
}

describe("changeVaultFile()", () => {
  it("adds, replaces and removes, each save private and one higher", async () => {
    const home = await makeVault();
    const first = await changeVaultFile(home, keys, (secrets) => withSecret(secrets, make("B")));
    const second = await changeVaultFile(home, keys, (secrets) =>
      withSecret(withSecret(secrets, make("A")), make("B")),
    );
    expect([first.counter, second.counter]).toEqual([2, 3]);
    expect(await names(home)).toEqual(["A", "B"]);
    expect((await readVaultFile(home, keys)).mark).toEqual(second);
    expect((await stat(home.vaultPath)).mode & 0o777).toBe(0o600);
    await changeVaultFile(home, keys, (secrets) => withoutSecret(secrets, "B"));
    expect(await names(home)).toEqual(["A"]);
    expect(await readdir(home.dir)).toEqual(["vault.json"]);
  });

  it("leaves the file as it was where the change fails, and is free again", async () => {
    const home = await makeVault();
    const before = await readFile(home.vaultPath, "utf8");
    await expect(
      changeVaultFile(home, keys, (secrets) => withoutSecret(secrets, "NONE")),
    ).rejects.toMatchObject({
      code: "secret_invalid",
    });
    await expect(
      changeVaultFile(home, keys, (secrets) => [...secrets, make("A"), make("A")]),
    ).rejects.toMatchObject({
      code: "secret_invalid",
    });
    await expect(
      changeVaultFile(home, generateKeyPair(), (secrets) => secrets),
    ).rejects.toMatchObject({ code: "vault_invalid" });
    expect(await readFile(home.vaultPath, "utf8")).toBe(before);
    expect((await changeVaultFile(home, keys, (secrets) => secrets)).counter).toBe(2);
  });

  it("loses no change of many at once", async () => {
    const home = await makeVault();
    const all = Array.from({ length: 12 }, (_, at) => `S${String(at).padStart(2, "0")}`);
    const marks = await Promise.all(
      all.map((name) => changeVaultFile(home, keys, (secrets) => withSecret(secrets, make(name)))),
    );
    expect(await names(home)).toEqual(all);
    expect(new Set(marks.map(({ counter }) => counter)).size).toBe(12);
  });

  it("makes it seen that an older vault was put back, or another one in its place", async () => {
    const home = await makeVault();
    const old = await readFile(home.vaultPath);
    const noted = await changeVaultFile(home, keys, (secrets) => withSecret(secrets, make("A")));
    expect(compareVaultMark((await readVaultFile(home, keys)).mark, noted)).toBe("same");
    await writeFile(home.vaultPath, old);
    expect(compareVaultMark((await readVaultFile(home, keys)).mark, noted)).toBe("rolled_back");
    await changeVaultFile(home, keys, (secrets) => secrets);
    expect(compareVaultMark((await readVaultFile(home, keys)).mark, noted)).toBe("replaced");
  });
});

describe("readVaultFile()", () => {
  it.each<[string, (path: string) => Promise<void>, string]>([
    ["that others may read", (path) => chmod(path, 0o644), "home_invalid"],
    ["that others may write", (path) => chmod(path, 0o620), "home_invalid"],
    ["that is missing", (path) => rm(path), "home_invalid"],
    ["that is too large", (path) => writeFile(path, "x".repeat(600_000)), "home_invalid"],
    [
      "that was changed",
      async (path) => writeFile(path, (await readFile(path, "utf8")).replace("aes-256", "aes-128")),
      "vault_invalid",
    ],
  ])("refuses a file %s", async (_name, spoil, code) => {
    const home = await makeVault();
    await spoil(home.vaultPath);
    await expect(readVaultFile(home, keys)).rejects.toMatchObject({ code });
  });
});

describe("createVaultFile()", () => {
  it("never replaces one", async () => {
    const home = await makeVault();
    await changeVaultFile(home, keys, (secrets) => withSecret(secrets, make("A")));
    expect(await createVaultFile(home, keys)).toBe(undefined);
    expect(await names(home)).toEqual(["A"]);
  });

  it("says where there is no place for it", async () => {
    const home = homePaths(join(await scratchDirectory(), "none"));
    await expect(createVaultFile(home, keys)).rejects.toMatchObject({ code: "home_invalid" });
  });
});

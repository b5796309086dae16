/** The keys and the vault of a gate, after somebody put one of their files back. */
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { changeVaultFile, openPrivatePair, rotateKeys, withSecret } from "@acp/home";
import type { Unlock } from "@acp/home";
import { Secret } from "@acp/core/vault";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { doctorWorld, ioOf, removeTemplate } from "../../test/doctor-world.js";
import type { World } from "../../test/doctor-world.js";
import { noteMark, noteRotation } from "../logs/vault-log.js";
import { openHomeKeys, renewHomeKeys } from "./home-keys.js";
import type { HomeKeys } from "./home-keys.js";
import { openHomeVault } from "./home-vault.js";

afterAll(removeTemplate);

const invocation = { io: ioOf(), values: {}, flags: new Set<string>() } as never;

interface Rotated extends World {
  /** Puts a file of before the rotation back; gives the one of after it. */
  putBack(name: string): Promise<() => Promise<void>>;
}

/** A home with a secret, whose keys were rotated. */
async function rotated(): Promise<Rotated> {
  const made = await doctorWorld();
  const { home } = made;
  const unlock: Unlock = {
    kind: "key-file",
    text: await readFile(join(home.keysDir, "unlock.key"), "utf8"),
  };
  const keys = await openPrivatePair(home, unlock);
  const secret = new Secret({ name: "TOKEN", value: "s3cret-value", servers: [], hosts: ["a.b"] });
  const add = (list: readonly Secret[]): readonly Secret[] => withSecret(list, secret);
  await noteMark({ home, io: ioOf() }, await changeVaultFile(home, keys, add), { change: "set" });
  const before = new Map<string, string>();
  for (const name of ["keys/private.key", "keys/public.key", "vault.json"])
    before.set(name, await readFile(join(home.dir, name), "utf8"));
  const { keys: to } = await rotateKeys(home, unlock);
  const mark = await changeVaultFile(home, to, (list) => list);
  await noteRotation({ home, io: ioOf() }, { from: keys.publicKey, to: to.publicKey }, mark);
  return {
    ...made,
    async putBack(name) {
      const path = join(home.dir, name);
      const now = await readFile(path, "utf8");
      await writeFile(path, before.get(name) ?? "", { mode: 0o600 });
      return () => writeFile(path, now, { mode: 0o600 });
    },
  };
}

/** Why a gate with these keys asks nobody, and how many secrets it would release. */
async function stateOf(
  { home }: Rotated,
  { ring, readVault: read }: HomeKeys,
): Promise<readonly [string | undefined, number]> {
  if (ring === undefined || read === undefined) throw new Error("no keys");
  const secrets = await openHomeVault({ home, ring, read }, undefined).secrets();
  return [ring.whyNot(), secrets.filter(({ hosts }) => hosts.length > 0).length];
}

describe("openHomeKeys() opens a gate that asks nobody where somebody put back", () => {
  it.each(["keys/private.key", "keys/public.key"])("%s alone", async (name) => {
    const at = await rotated();
    const { home, putBack, examine } = at;
    const undo = await putBack(name);
    const held = await openHomeKeys(home, invocation);
    const [why, released] = await stateOf(at, held);
    expect([why, released]).toEqual([expect.stringContaining("Cannot use the keys"), 0]);
    expect(JSON.stringify(await examine())).toContain('"keys_differ"');
    await expect(renewHomeKeys(home, held)).resolves.toBeDefined();
    await undo();
    vi.spyOn(performance, "now").mockReturnValue(performance.now() + 60_000);
    onTestFinished(() => void vi.restoreAllMocks());
    await held.ring?.fresh();
    expect(await stateOf(at, held)).toEqual([undefined, 1]);
  });
});

describe("openHomeKeys() opens a gate that releases no secret where", () => {
  const PUT: readonly (readonly [string, (at: Rotated) => Promise<unknown>])[] = [
    ["the vault of before the rotation is back", ({ putBack }) => putBack("vault.json")],
    ["the vault is gone", ({ home }) => rm(home.vaultPath)],
    ["the vault is broken", ({ home }) => writeFile(home.vaultPath, "x", { mode: 0o600 })],
  ];
  it.each(PUT)("%s", async (_name, put) => {
    const at = await rotated();
    await put(at);
    const held = await openHomeKeys(at.home, invocation);
    const said: string[] = [];
    held.guard?.heed(
      () => Promise.resolve(),
      (text) => said.push(text),
    );
    expect(await stateOf(at, held)).toEqual([undefined, 0]);
    expect(said).toEqual([expect.stringContaining("no secret is released")]);
    await expect(renewHomeKeys(at.home, held)).resolves.toBeDefined();
  });
});

describe("openHomeKeys() opens a gate that, although nothing changed for long, sees at its next call", () => {
  /** The gate has looked at everything, and nothing of it has changed just now. */
  async function rested(): Promise<readonly [Rotated, HomeKeys]> {
    const at = await rotated();
    const nowMs = Date.now();
    vi.spyOn(Date, "now").mockImplementation(() => nowMs + 60_000);
    onTestFinished(() => void vi.restoreAllMocks());
    const held = await openHomeKeys(at.home, invocation);
    for (let times = 0; times < 3; times++) expect(await stateOf(at, held)).toEqual([undefined, 1]);
    return [at, held];
  }

  it("that the public key is gone, and that it is back", async () => {
    const [at, held] = await rested();
    const { publicKeyPath } = at.home;
    const text = await readFile(publicKeyPath, "utf8");
    const { ring } = held;
    const key = ring?.recordKey();
    await rm(publicKeyPath);
    expect([ring?.whyNot(), ring?.recordKey() === key]).toEqual([expect.any(String), false]);
    await expect(ring?.fresh()).rejects.toThrow("public.key");
    await writeFile(publicKeyPath, text, { mode: 0o600 });
    expect([ring?.whyNot(), ring?.recordKey() === key]).toEqual([undefined, true]);
    expect(await stateOf(at, held)).toEqual([undefined, 1]);
  });

  it("another vault that was moved into the place of the one that it knows", async () => {
    const [at, held] = await rested();
    const { home, putBack } = at;
    const undo = await putBack("vault.json");
    await rename(home.vaultPath, `${home.vaultPath}.older`);
    await undo();
    expect(await stateOf(at, held)).toEqual([undefined, 1]);
    await rename(`${home.vaultPath}.older`, home.vaultPath);
    expect(await stateOf(at, held)).toEqual([undefined, 0]);
  });

  it("keys of before, and what a log notes meanwhile", async () => {
    const [at, held] = await rested();
    const undo = await at.putBack("keys/public.key");
    await expect(held.ring?.fresh()).rejects.toThrow("public.key");
    expect(held.ring?.whyNot()).toEqual(expect.any(String));
    await undo();
    const mark = { counter: 99, hash: `sha256:${"0".repeat(64)}` };
    await noteMark({ home: at.home, io: ioOf() }, mark, { change: "set" });
    vi.spyOn(performance, "now").mockReturnValue(performance.now() + 60_000);
    expect((await stateOf(at, held))[1]).toBe(0);
  });
});

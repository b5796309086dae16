/** The keys and the vault of a gate, after somebody put one of their files back. */
import { readFile, rm, writeFile } from "node:fs/promises";
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
  { ring }: HomeKeys,
): Promise<readonly [string | undefined, number]> {
  if (ring === undefined) throw new Error("no keys");
  const secrets = await openHomeVault({ home, ring }, undefined).secrets();
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

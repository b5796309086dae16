import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initHome, initKeys, openRecordKey, rotateKeys, takeOverKeys } from "@acp/home";
import type { Home, Unlock } from "@acp/home";
import type { KeyPair } from "@acp/core/proof";
import { expect, it, onTestFinished, vi } from "vitest";
import { createKeyRing } from "./key-ring.js";
import type { KeyRing } from "./key-ring.js";

const unlock: Unlock = { kind: "key-file", text: `${"0f".repeat(32)}\n` };

interface Made {
  readonly home: Home;
  readonly ring: KeyRing;
  readonly said: string[];
  opens: boolean;
  /** Why the keys must not be used. */
  readonly now: { older: string | undefined };
  tries: number;
}

async function makeRing(older?: string): Promise<Made> {
  const dir = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  const { home } = await initHome(join(dir, "h"));
  const { keys } = await initKeys(home, unlock);
  const said: string[] = [];
  const now: { older: string | undefined } = { older };
  const made: Made = {
    home,
    said,
    opens: true,
    now,
    tries: 0,
    ring: await createKeyRing({
      home,
      keys,
      whyStopped: () => Promise.resolve(now.older),
      reopen(): Promise<KeyPair> {
        made.tries++;
        return made.opens ? takeOverKeys(home, unlock) : Promise.reject(new Error("no key here"));
      },
    }),
  };
  const following = made.ring.follow((text) => said.push(text));
  onTestFinished(() => following[Symbol.dispose]());
  return made;
}

it("a key ring has the record key of now, and one of nobody while new keys are not open", async () => {
  const made = await makeRing();
  const { home, ring } = made;
  const before = ring.recordKey();
  expect([ring.whyNot(), ring.recordKey() === before]).toEqual([undefined, true]);
  made.opens = false;
  const { keys } = await rotateKeys(home, unlock);
  const between = ring.recordKey();
  expect(Buffer.from(between).equals(before)).toBe(false);
  await expect(ring.fresh()).rejects.toThrow("no key here");
  expect(ring.whyNot()).toMatch(/do not open \(.*no key here\)/);
  // It is not tried again at once, and said once.
  made.opens = true;
  await expect(ring.fresh()).rejects.toThrow("no key here");
  expect(made.tries).toBe(1);
  expect(made.said).toEqual([expect.stringMatching(/^Every call is denied from now on/)]);
  expect(Buffer.from(await openRecordKey(home, keys)).equals(between)).toBe(false);
});

it("a key ring opens rotated keys once for all who ask, and says so", async () => {
  const { home, ring, said } = await makeRing();
  const { keys } = await rotateKeys(home, unlock);
  const opened = await Promise.all([ring.fresh(), ring.fresh(), ring.fresh()]);
  expect(new Set(opened).size).toBe(1);
  expect(opened[0]?.publicKey).toBe(keys.publicKey);
  expect(Buffer.from(ring.recordKey()).equals(await openRecordKey(home, keys))).toBe(true);
  expect(ring.whyNot()).toBeUndefined();
  expect(said).toEqual([expect.stringContaining(keys.publicKey)]);
});

it("a key ring tells all who follow it, until each of them ends", async () => {
  const { home, ring, said } = await makeRing();
  const others: string[][] = [[], []];
  const [one, two] = others.map((texts) => ring.follow((text) => texts.push(text)));
  one?.[Symbol.dispose]();
  await rotateKeys(home, unlock);
  await ring.fresh();
  two?.[Symbol.dispose]();
  expect([said.length, ...others.map(({ length }) => length)]).toEqual([1, 0, 1]);
});

it("a key ring has no key where the public keys cannot be read", async () => {
  const { home, ring } = await makeRing();
  const [before, text] = [ring.recordKey(), await readFile(home.publicKeyPath, "utf8")];
  await rm(home.publicKeyPath);
  expect(ring.recordKey()).not.toBe(before);
  expect(ring.whyNot()).toBeTypeOf("string");
  await expect(ring.fresh()).rejects.toThrow(/public/);
  await writeFile(home.publicKeyPath, text, { mode: 0o600 });
  expect([ring.recordKey() === before, ring.whyNot()]).toEqual([true, undefined]);
});

it("a key ring that must not use its keys says why, and uses them again once it may", async () => {
  const made = await makeRing("they are older ones");
  const { ring, said, now, home } = made;
  expect(said).toEqual([expect.stringContaining("they are older ones")]);
  expect(ring.whyNot()).toContain("they are older ones");
  await expect(ring.fresh()).rejects.toMatchObject({ code: "key_rejected" });
  const gone = ring.recordKey();
  now.older = undefined;
  // Tried again no sooner than the ring tries anything again.
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 60_000);
  onTestFinished(() => void vi.restoreAllMocks());
  const keys = await ring.fresh();
  expect(ring.whyNot()).toBeUndefined();
  expect(Buffer.from(ring.recordKey()).equals(gone)).toBe(false);
  expect(Buffer.from(ring.recordKey()).equals(await openRecordKey(home, keys))).toBe(true);
  expect(said.at(-1)).toBe("The keys of this home are used again");
});

it("a key ring stops when its keys are older than the log notes, although their file is the same", async () => {
  const { ring, now, said } = await makeRing();
  await ring.fresh();
  now.older = "they are older ones";
  await expect(ring.fresh()).rejects.toMatchObject({ code: "key_rejected" });
  expect([ring.isStopped(), ring.whyNot()]).toEqual([
    true,
    "Cannot use the keys of this home: they are older ones",
  ]);
  expect(said).toEqual([
    "Nobody is asked from now on: Cannot use the keys of this home: they are older ones",
  ]);
});

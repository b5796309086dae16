import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "@acp/core";
import { importPublicKey } from "@acp/core/proof";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { type Home, initHome } from "./home.js";
import { createUseCheck, signerInUse, whyOutOfUse } from "./key-in-use.js";
import { initKeys, readPublicKeys, rotateKeys, rotationSteps, unlockKeys } from "./keys.js";
import { makeKeyFile, type Unlock } from "./private-key.js";
import { tellsChanges } from "./told-changes.js";

const unlock: Unlock = { kind: "key-file", text: makeKeyFile() };
const payload = new TextEncoder().encode("what was asked");

async function makeHome(): Promise<Home> {
  const { home } = await initHome(join(await scratchDirectory(), "h"));
  await initKeys(home, unlock);
  return home;
}

describe("signerInUse()", () => {
  it("signs while its key is the home's, and not after a rotation", async () => {
    const home = await makeHome();
    const keys = await unlockKeys(home, unlock);
    const signer = signerInUse(home, keys);
    expect(importPublicKey(signer.publicKey).verifies(await signer.sign(payload), payload)).toBe(
      true,
    );
    expect(whyOutOfUse(home, keys)).toBeUndefined();
    const { keys: next } = await rotateKeys(home, unlock);
    expect(whyOutOfUse(home, keys)).toMatch(/rotated/);
    await expect(signer.sign(payload)).rejects.toMatchObject({
      code: "key_rejected",
      message: expect.stringContaining("restart it"),
    });
    expect(await signerInUse(home, next).sign(payload)).toHaveLength(64);
  });

  it("signs while a rotation that was cut off has not published its key, which unlocking does", async () => {
    const home = await makeHome();
    const from = await unlockKeys(home, unlock);
    const { home: blank } = await initHome(join(await scratchDirectory(), "h"));
    const { keys: to } = await initKeys(blank, unlock);
    for (const step of rotationSteps({ home, unlock, clock: systemClock, from, to }).slice(0, 2))
      await step();
    const signer = signerInUse(home, from);
    const signedMs = Date.now();
    await signer.sign(payload);
    await unlockKeys(home, unlock);
    await expect(signer.sign(payload)).rejects.toMatchObject({ code: "key_rejected" });
    expect((await readPublicKeys(home))[1]).toMatchObject({
      publicKey: from.publicKey,
      untilMs: expect.any(Number),
    });
    expect((await readPublicKeys(home))[1]?.untilMs).toBeGreaterThanOrEqual(signedMs);
  });

  it("does not sign where it cannot be said", async () => {
    const home = await makeHome();
    const keys = await unlockKeys(home, unlock);
    await rm(home.publicKeyPath);
    expect(whyOutOfUse(home, keys)).toMatch(/cannot be read/);
    await expect(signerInUse(home, keys).sign(payload)).rejects.toMatchObject({
      code: "key_rejected",
    });
  });

  it("gives no signature that is younger than the end of its key, however a rotation falls", async () => {
    const home = await makeHome();
    for (let round = 0; round < 5; round++) {
      const keys = await unlockKeys(home, unlock);
      const signer = signerInUse(home, keys);
      let last = 0;
      const signing = (async () => {
        // What a gate does: the moment of the answer, then its signature.
        for (;;) {
          const givenAtMs = Date.now();
          const isSigned = await signer.sign(payload).then(
            () => true,
            (error: unknown) =>
              !(error instanceof Error && "code" in error && error.code === "key_rejected") &&
              undefined,
          );
          if (isSigned === false) return;
          if (isSigned === true) last = givenAtMs;
          await wait(Math.random() * 10); // who rotates must get the lock some time
        }
      })();
      await rotateKeys(home, unlock);
      await signing;
      const period = (await readPublicKeys(home)).find(
        ({ publicKey }) => publicKey === keys.publicKey,
      );
      expect(last).toBeLessThan(period?.untilMs ?? 0);
    }
  });
});

it("createUseCheck() says in the next turn that keys were rotated, or cannot be read", async () => {
  const home = await makeHome();
  const keys = await unlockKeys(home, unlock);
  const nowMs = Date.now();
  // What changed just now is read each time anyway.
  const now = vi.spyOn(Date, "now").mockImplementation(() => nowMs + 60_000);
  onTestFinished(() => now.mockRestore());
  const whyNot = createUseCheck(home);
  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  // Until the system has said that changes show, and it is kept.
  for (let turn = 0; turn < 3; turn++) {
    expect(whyNot(keys)).toBeUndefined();
    await tellsChanges(home.publicKeyPath);
    await nextTurn();
  }
  const { keys: next } = await rotateKeys(home, unlock);
  await nextTurn();
  expect(whyNot(keys)).toMatch(/rotated/);
  expect(whyNot(next)).toBeUndefined();
  await rm(home.publicKeyPath);
  await nextTurn();
  expect(whyNot(next)).toMatch(/cannot be read/);
});

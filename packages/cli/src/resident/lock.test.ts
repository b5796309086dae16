import { ConsentError } from "@acp/core";
import { describe, expect, it } from "vitest";
import type { HomeKeys } from "../gate/home-keys.js";
import { createLock } from "./lock.js";

const KEYS: HomeKeys = { keys: undefined, gateOptions: {} };

function world(
  open = async (passphrase: string): Promise<HomeKeys> => {
    if (passphrase === "right") return KEYS;
    throw new ConsentError("key_locked", "Cannot open the private key");
  },
) {
  const at = { nowMs: 0, wallMs: 1_764_201_600_000, tries: 0 };
  const lock = createLock({
    open: (passphrase) => {
      at.tries++;
      return open(passphrase);
    },
    ttlMs: () => Promise.resolve(60_000),
    nowMs: () => at.nowMs,
    wallMs: () => at.wallMs,
  });
  return { at, lock };
}

describe("createLock()", () => {
  it("keeps the keys until their time is over by either clock", async () => {
    for (const pass of [
      (at: { nowMs: number; wallMs: number }) => (at.nowMs += 60_000),
      (at: { nowMs: number; wallMs: number }) => (at.wallMs += 60_000),
    ]) {
      const { at, lock } = world();
      expect(lock.keys()).toBeUndefined();
      expect(await lock.unlock("right")).toEqual({
        unlocked: true,
        until: "2025-11-27T00:01:00.000Z",
      });
      expect(lock.keys()).toBe(KEYS);
      expect(lock.until()).toBe("2025-11-27T00:01:00.000Z");
      pass(at);
      expect(lock.keys()).toBeUndefined();
      expect(lock.until()).toBeUndefined();
      // A clock that is set back opens nothing again.
      [at.nowMs, at.wallMs] = [0, 1_764_201_600_000];
      expect(lock.keys()).toBeUndefined();
    }
  });

  it("forgets them when it is told to", async () => {
    const { lock } = world();
    expect(lock.lock()).toBe(false);
    await lock.unlock("right");
    expect(lock.lock()).toBe(true);
    expect(lock.keys()).toBeUndefined();
  });

  it("answers wrong passphrases more and more slowly, and a right one in its turn", async () => {
    const { at, lock } = world();
    for (let n = 0; n < 4; n++)
      expect(await lock.unlock("wrong")).toMatchObject({ code: "key_locked" });
    expect(await lock.unlock("right")).toMatchObject({ code: "guesses_throttled" });
    at.nowMs += 1_000;
    expect(await lock.unlock("wrong")).toMatchObject({ code: "key_locked" });
    at.nowMs += 1_999;
    expect(await lock.unlock("right")).toMatchObject({
      code: "guesses_throttled",
      message: expect.stringContaining("1 seconds"),
    });
    expect(at.tries).toBe(5);
    at.nowMs += 1;
    expect(await lock.unlock("right")).toMatchObject({ unlocked: true });
    // And begins anew.
    for (let n = 0; n < 4; n++)
      expect(await lock.unlock("wrong")).toMatchObject({ code: "key_locked" });
    expect(lock.keys()).toBe(KEYS);
  });

  it("waits at most a quarter of an hour", async () => {
    const { at, lock } = world();
    for (let n = 0; n < 40; n++) {
      await lock.unlock("wrong");
      at.nowMs += 15 * 60_000;
    }
    expect(at.tries).toBe(40);
  });

  it("tries one passphrase at a time", async () => {
    const { at, lock } = world(() => new Promise(() => undefined));
    void lock.unlock("a");
    const second = lock.unlock("b");
    expect(at.tries).toBe(1);
    expect(await second).toMatchObject({ code: "guesses_throttled" });
  });

  it("stays locked where somebody locks it while a passphrase is being tried", async () => {
    let open = (_keys: HomeKeys): void => undefined;
    const { lock } = world(() => new Promise((resolve) => (open = resolve)));
    const unlocking = lock.unlock("right");
    expect(lock.lock()).toBe(true);
    open(KEYS);
    expect(await unlocking).toMatchObject({ code: "unlock_failed" });
    expect([lock.keys(), lock.lock()]).toEqual([undefined, false]);
  });

  it("tells trouble that is no wrong passphrase apart, and counts it as no guess", async () => {
    const { lock } = world(() => Promise.reject(new ConsentError("vault_invalid", "the vault")));
    for (let n = 0; n < 9; n++)
      expect(await lock.unlock("right")).toEqual({
        unlocked: false,
        code: "unlock_failed",
        message: "the vault",
      });
  });
});

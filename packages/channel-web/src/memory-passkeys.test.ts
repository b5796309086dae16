import { expect, it } from "vitest";
import { passkeyOf } from "../test/keys.js";
import { memoryPasskeys } from "./memory-passkeys.js";

it("memoryPasskeys() adds an id once", async () => {
  const store = memoryPasskeys();
  expect(await store.add(passkeyOf("ada", "k1"))).toBe(true);
  expect(await store.add(passkeyOf("bob", "k1"))).toBe(false);
  expect(await store.list()).toEqual([passkeyOf("ada", "k1")]);
});

it("memoryPasskeys() revokes a person's own, once, and keeps it", async () => {
  const store = memoryPasskeys([passkeyOf("ada", "k1")]);
  expect(await store.revoke("k1", "bob", 5)).toBe(false);
  expect(await store.revoke("k2", "ada", 5)).toBe(false);
  expect(await store.revoke("k1", "ada", 5)).toBe(true);
  expect(await store.revoke("k1", "ada", 6)).toBe(false);
  expect(await store.list()).toEqual([{ ...passkeyOf("ada", "k1"), revokedAtMs: 5 }]);
});

import { describe, expect, it } from "vitest";
import { passkeyOf } from "../test/keys.js";
import { ORIGIN } from "../test/page.js";
import { createKeyring } from "./keyring.js";
import { memoryPasskeys } from "./memory-passkeys.js";
import { readOptions } from "./options.js";
import type { Passkey, PasskeyStore } from "./passkey.js";

const ringOf = (passkeys: PasskeyStore) =>
  createKeyring(readOptions({ origin: ORIGIN, people: [{ approver: "ada" }], passkeys }));

describe("createKeyring()", () => {
  it("lets sign what is a person's of this inbox, and this person's where one is asked about", async () => {
    const ring = ringOf(
      memoryPasskeys([passkeyOf("ada", "k1"), passkeyOf("ada", "k2"), passkeyOf("mallory", "k3")]),
    );
    expect((await ring.usable()).map(({ id }) => id)).toEqual(["k1", "k2"]);
    expect(await ring.usable("mallory")).toEqual([]);
  });

  it.each<[string, Partial<Passkey>]>([
    ["revoked", { revokedAtMs: 1 }],
    ["revoked at zero", { revokedAtMs: 0 }],
    ["of another domain", { rpId: "example.com" }],
    ["made elsewhere", { origins: ["http://localhost:9999"] }],
    ["made nowhere", { origins: [] }],
    ["of somebody else", { approver: "bob" }],
  ])("does not let sign what is %s", async (_what, wrong) => {
    expect(await ringOf(memoryPasskeys([{ ...passkeyOf("ada"), ...wrong }])).usable()).toEqual([]);
  });

  it("adds for this domain and origin, now", async () => {
    const store = memoryPasskeys();
    await ringOf(store).add({ id: "k1", approver: "ada", publicKey: "AA", label: "phone" });
    const [added] = await store.list();
    expect(added).toMatchObject({ rpId: "localhost", origins: [ORIGIN] });
    expect(await ringOf(store).usable("ada")).toHaveLength(1);
  });

  it("says that the store failed, however it did", async () => {
    const fail = (): never => {
      throw new Error("disk");
    };
    const ring = ringOf({ list: fail, add: fail, revoke: async () => fail() });
    const calls = [
      ring.usable(),
      ring.all("ada"),
      ring.add({ id: "k", approver: "ada", publicKey: "", label: "" }),
      ring.revoke("k", "ada"),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "channel_failed" });
  });
});

import { manualClock, seededIds } from "@acp/testing";
import { describe, expect, it } from "vitest";
import {
  compareVaultMark,
  keysRotatedEvent,
  readVaultMark,
  vaultChangedEvent,
  vaultMark,
} from "./notice.js";

const parts = { clock: manualClock(), ids: seededIds() };
const mark = vaultMark(4, "sealed");

describe("vaultChangedEvent()", () => {
  it("carries counter, hash, change and name, and is read back", () => {
    const event = vaultChangedEvent(mark, { change: "set", secret: "TOKEN" }, parts);
    expect(event).toMatchObject({
      eventType: "vault_changed",
      metadata: {
        counter: 4,
        vault_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
        change: "set",
        secret: "TOKEN",
      },
    });
    expect(readVaultMark(event)).toEqual(mark);
    expect(readVaultMark({ ...event, eventType: "gate_notice" })).toBe(undefined);
    expect(readVaultMark({ ...event, metadata: { counter: "4" } })).toBe(undefined);
  });
});

describe("keysRotatedEvent()", () => {
  it("names both public keys", () => {
    expect(keysRotatedEvent({ from: "aa", to: "bb" }, parts)).toMatchObject({
      eventType: "keys_rotated",
      metadata: { from_key: "aa", to_key: "bb" },
    });
  });
});

describe("compareVaultMark()", () => {
  it.each([
    ["same", mark],
    ["newer", vaultMark(5, "sealed later")],
    ["rolled_back", vaultMark(3, "sealed before")],
    ["replaced", vaultMark(4, "sealed otherwise")],
  ])("says %s", (want, vault) => {
    expect(compareVaultMark(vault, mark)).toBe(want);
  });
});

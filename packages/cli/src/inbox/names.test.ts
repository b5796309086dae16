import type { PasskeyRecord } from "@acp/home";
import { describe, expect, it } from "vitest";
import { choosePasskeyName, madeElsewhere, makeFreshHost } from "./names.js";

const passkey = (
  rpId: string,
  createdAtMs: number,
  more: Partial<PasskeyRecord> = {},
): PasskeyRecord => ({
  id: `id-${createdAtMs}`,
  approver: "ada",
  publicKey: "AA",
  rpId,
  origins: [`http://*.${rpId}`],
  label: "phone",
  createdAtMs,
  ...more,
});
const [ONE, TWO] = ["aaaaaaaaaaaaaaaa.localhost", "bbbbbbbbbbbbbbbb.localhost"];

describe("makeFreshHost()", () => {
  it("is another one each time, right below the passkeys' name, and a name that DNS takes", () => {
    const hosts = Array.from({ length: 100 }, () => makeFreshHost(ONE));
    expect(new Set(hosts).size).toBe(100);
    for (const host of hosts) expect(host).toMatch(/^[a-z2-7]{26}\.aaaaaaaaaaaaaaaa\.localhost$/);
  });
});

describe("choosePasskeyName()", () => {
  it("is a new one where there is no passkey that has one", () => {
    const legacy = [passkey("localhost", 1), passkey("inbox.example.com", 2)];
    expect(choosePasskeyName(legacy)).toMatch(/^[a-z2-7]{16}\.localhost$/);
    expect(choosePasskeyName(legacy)).not.toBe(choosePasskeyName(legacy));
  });

  it("stays that of the newest passkey in use", () => {
    expect(choosePasskeyName([passkey(ONE, 1), passkey(TWO, 2)])).toBe(TWO);
    expect(choosePasskeyName([passkey(TWO, 2), passkey(ONE, 1)])).toBe(TWO);
    expect(choosePasskeyName([passkey(ONE, 1), passkey(TWO, 2, { revokedAtMs: 3 })])).toBe(ONE);
  });
});

describe("madeElsewhere()", () => {
  it("are those in use that no browser offers here", () => {
    const old = passkey("localhost", 1);
    expect(madeElsewhere([old, passkey(ONE, 2), passkey(TWO, 3, { revokedAtMs: 4 })], ONE)).toEqual(
      [old],
    );
  });
});

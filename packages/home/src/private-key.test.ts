import { describe, expect, it } from "vitest";
import {
  checkUnlock,
  makeKeyFile,
  openSeeds,
  sealSeeds,
  type Unlock,
  unlockKindOf,
} from "./private-key.js";

const current = new Uint8Array(32).fill(1);
const previous = new Uint8Array(32).fill(2);
const keyFile: Unlock = { kind: "key-file", text: makeKeyFile() };
const passphrase: Unlock = { kind: "passphrase", passphrase: "correct horse é" };
const locked = {
  code: "key_locked",
  message:
    "Cannot open the private key: the passphrase or key file is wrong, or the key was changed",
};

describe("openSeeds()", () => {
  it("opens with the same passphrase, however its accents are composed, and with no other", async () => {
    const text = await sealSeeds({ current }, passphrase);
    expect(unlockKindOf(text)).toBe("passphrase");
    expect(JSON.parse(text)).toMatchObject({
      version: 1,
      kdf: "scrypt",
      n: 131_072,
      r: 8,
      p: 1,
      encryption: "aes-256-gcm",
    });
    expect(
      await openSeeds(text, { kind: "passphrase", passphrase: "correct horse e\u0301" }),
    ).toEqual({ current });
    await expect(
      openSeeds(text, { kind: "passphrase", passphrase: "correct horse e" }),
    ).rejects.toMatchObject(locked);
    await expect(openSeeds(text, { kind: "passphrase", passphrase: "" })).rejects.toMatchObject(
      locked,
    );
    await expect(openSeeds(text.replace("131072", "131073"), passphrase)).rejects.toMatchObject(
      locked,
    );
    await expect(openSeeds(text, keyFile)).rejects.toMatchObject(locked);
  });

  it("opens with the same key file and no other, one key or two", async () => {
    const text = await sealSeeds({ current, previous }, keyFile);
    expect(unlockKindOf(text)).toBe("key-file");
    expect(await openSeeds(text, keyFile)).toEqual({ current, previous });
    expect(await openSeeds(await sealSeeds({ current }, keyFile), keyFile)).toEqual({ current });
    await expect(openSeeds(text, { kind: "key-file", text: makeKeyFile() })).rejects.toMatchObject(
      locked,
    );
    await expect(openSeeds(text, { kind: "key-file", text: "no key file" })).rejects.toMatchObject(
      locked,
    );
    await expect(openSeeds(text, passphrase)).rejects.toMatchObject(locked);
  });

  it("says the same for every changed, missing or added byte", async () => {
    const text = await sealSeeds({ current }, keyFile);
    for (let at = 0; at < text.length; at++) {
      const flipped = String.fromCharCode(text.charCodeAt(at) ^ 1);
      for (const middle of [flipped, "", `${text.charAt(at)}0`])
        await expect(
          openSeeds(text.slice(0, at) + middle + text.slice(at + 1), keyFile),
        ).rejects.toMatchObject(locked);
    }
  });
});

describe("sealSeeds()", () => {
  it("seals anew every time", async () => {
    expect(await sealSeeds({ current }, keyFile)).not.toBe(await sealSeeds({ current }, keyFile));
  });

  it.each<[string, Unlock]>([
    ["a short passphrase", { kind: "passphrase", passphrase: "7 chars" }],
    ["an endless passphrase", { kind: "passphrase", passphrase: "x".repeat(1_025) }],
    ["a key file without its line break", { kind: "key-file", text: makeKeyFile().trim() }],
    ["a key file in upper case", { kind: "key-file", text: `${"A".repeat(64)}\n` }],
  ])("refuses %s", async (_name, unlock) => {
    expect(() => checkUnlock(unlock)).toThrow(expect.objectContaining({ code: "options_invalid" }));
    await expect(sealSeeds({ current }, unlock)).rejects.toMatchObject({ code: "options_invalid" });
  });
});

import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { openVault, sealVault } from "./seal.js";
import { revealSecret, Secret } from "./secret.js";

const seed = new Uint8Array(32).fill(7);
const secret = new Secret({ name: "TOKEN", value: "a secret value", servers: ["github"] });

/** The error, as whole as a log could show it. */
function failure(run: () => unknown): { readonly code: unknown; readonly shown: string } {
  try {
    run();
  } catch (error) {
    return {
      code: (error as { code?: unknown }).code,
      shown: inspect(error, { depth: null }).replaceAll(/\n\s+at .*/g, ""),
    };
  }
  return { code: undefined, shown: "" };
}

describe("openVault()", () => {
  const text = sealVault({ counter: 3, secrets: [secret] }, seed);

  it("gives back what was sealed, and shows nothing of it in the text", () => {
    const { counter, secrets } = openVault(text, seed);
    expect(counter).toBe(3);
    expect(
      secrets.map((each) => [each.name, revealSecret(each), each.servers, each.hosts]),
    ).toEqual([["TOKEN", "a secret value", ["github"], []]]);
    expect(text).not.toMatch(/TOKEN|github|a secret value/);
    expect(Object.keys(JSON.parse(text) as object)).toEqual([
      "version",
      "encryption",
      "salt",
      "iv",
      "data",
      "tag",
    ]);
  });

  it("says the same for another key and for every single changed, missing or added byte", () => {
    const other = failure(() => openVault(text, new Uint8Array(32)));
    expect(other.code).toBe("vault_invalid");
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at++) {
      for (const flip of [0x01, 0x20, 0x80]) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ flip;
        expect(failure(() => openVault(changed.toString("latin1"), seed))).toEqual(other);
      }
      const [before, after] = [text.slice(0, at), text.slice(at + 1)];
      expect(failure(() => openVault(before + after, seed))).toEqual(other);
      expect(failure(() => openVault(`${before}0${text.slice(at)}`, seed))).toEqual(other);
    }
    for (const added of ["\n", " ", "\0", text])
      expect(failure(() => openVault(text + added, seed))).toEqual(other);
  });

  it("refuses a seed of another length as misuse", () => {
    expect(failure(() => openVault(text, new Uint8Array(31))).code).toBe("key_rejected");
  });
});

describe("sealVault()", () => {
  it.each<[string, Parameters<typeof sealVault>[0]]>([
    ["a counter of 0", { counter: 0, secrets: [] }],
    ["a counter that is not whole", { counter: 1.5, secrets: [] }],
    ["a counter that is not exact", { counter: 2 ** 53, secrets: [] }],
    ["a name twice", { counter: 1, secrets: [secret, secret] }],
    [
      "too much of it",
      {
        counter: 1,
        secrets: Array.from(
          { length: 17 },
          (_, at) => new Secret({ name: `S${at}`, value: "x".repeat(16_384) }),
        ),
      },
    ],
  ])("refuses %s", (_name, contents) => {
    const { code, shown } = failure(() => sealVault(contents, seed));
    expect(code).toBe("secret_invalid");
    expect(shown).not.toContain("a secret value");
  });

  it("refuses a copy of a secret, which holds no value", () => {
    const copy = structuredClone(secret);
    expect(failure(() => sealVault({ counter: 1, secrets: [copy] }, seed)).code).toBe(
      "secret_invalid",
    );
  });

  it("keeps a name that objects know already", () => {
    const odd = ["__proto__", "constructor", "toString"].map(
      (name) => new Secret({ name, value: "a secret value" }),
    );
    expect(
      openVault(sealVault({ counter: 1, secrets: odd }, seed), seed).secrets.map(
        ({ name }) => name,
      ),
    ).toEqual(["__proto__", "constructor", "toString"]);
  });
});

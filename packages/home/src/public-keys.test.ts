import { generateKeyPair } from "@acp/core/proof";
import { describe, expect, it } from "vitest";
import { parsePublicKeys, printPublicKeys, succeed, trustedKeysOf } from "./public-keys.js";

const [first, second, third] = [generateKeyPair(), generateKeyPair(), generateKeyPair()].map(
  ({ publicKey }) => publicKey,
) as [string, string, string];
const rotated = succeed(
  succeed([{ publicKey: first, fromMs: 1_000 }], second, 2_000),
  third,
  3_000,
);

describe("succeed()", () => {
  it("puts the new key in front and ends the time of the one before", () => {
    expect(rotated).toEqual([
      { publicKey: third, fromMs: 3_000 },
      { publicKey: second, fromMs: 2_000, untilMs: 3_000 },
      { publicKey: first, fromMs: 1_000, untilMs: 2_000 },
    ]);
    expect(succeed(rotated, third, 9_000)).toBe(rotated);
  });

  it("never ends a time before it starts, though the clock went back", () => {
    expect(succeed([{ publicKey: first, fromMs: 5_000 }], second, 1_000)).toEqual([
      { publicKey: second, fromMs: 5_000 },
      { publicKey: first, fromMs: 5_000, untilMs: 5_000 },
    ]);
  });
});

describe("parsePublicKeys()", () => {
  const text = printPublicKeys(rotated);

  it("reads back what was written; the key in use is the first 64 characters", () => {
    expect(parsePublicKeys(text)).toEqual(rotated);
    expect(text.slice(0, 64)).toBe(third);
    expect(trustedKeysOf(rotated)).toMatchObject([
      { key: { hex: third }, validFromMs: 3_000 },
      { key: { hex: second }, validFromMs: 2_000, validUntilMs: 3_000 },
      { key: { hex: first }, validFromMs: 1_000, validUntilMs: 2_000 },
    ]);
  });

  const lines = text.split("\n");
  it.each([
    ["nothing", ""],
    ["no line break at the end", text.slice(0, -1)],
    ["a blank line", `${text}\n`],
    ["upper case", text.toUpperCase()],
    ["another spelling of a time", text.replace(".000Z", "Z")],
    ["a key of low order", `${"0".repeat(64)} 1970-01-01T00:00:01.000Z\n`],
    ["another order", `${lines.toReversed().slice(1).join("\n")}\n`],
    [
      "two keys in use",
      printPublicKeys([
        { publicKey: first, fromMs: 1 },
        { publicKey: second, fromMs: 1 },
      ]),
    ],
    ["no key in use", printPublicKeys([{ publicKey: first, fromMs: 1, untilMs: 2 }])],
    [
      "times that overlap",
      printPublicKeys([
        { publicKey: first, fromMs: 5 },
        { publicKey: second, fromMs: 1, untilMs: 6 },
      ]),
    ],
    [
      "a time that ends before it starts",
      printPublicKeys([
        { publicKey: first, fromMs: 5 },
        { publicKey: second, fromMs: 4, untilMs: 3 },
      ]),
    ],
  ])("refuses %s", (_name, given) => {
    expect(() => parsePublicKeys(given)).toThrow(expect.objectContaining({ code: "key_rejected" }));
  });
});

import { generateKeyPair } from "@acp/core/proof";
import { describe, expect, it } from "vitest";
import {
  beginBy,
  coverSigned,
  isWithin,
  parsePublicKeys,
  printPublicKeys,
  succeed,
  trustedKeysOf,
} from "./public-keys.js";

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

describe("beginBy()", () => {
  it("has the key in use begin with what it is about to sign, and no later key end", () => {
    expect(beginBy(rotated, 2_500)).toEqual([
      { publicKey: third, fromMs: 2_500 },
      ...rotated.slice(1),
    ]);
    expect(beginBy(rotated, 3_000)).toBe(rotated);
    expect(beginBy([], 1)).toEqual([]);
  });
});

describe("coverSigned()", () => {
  const DAY = 86_400_000;
  // What versions of before wrote where the clock was behind: "from X until X".
  const empty = succeed([{ publicKey: first, fromMs: 9 * DAY }], second, 1_000);

  it("gives a key that ended when it began the times at which it signed, and no others", () => {
    const signed = [5 * DAY, 2 * DAY, 2 * DAY + 7].map((atMs) => ({ publicKey: first, atMs }));
    const covered = coverSigned(empty, signed);
    expect(covered).toEqual([
      ...empty,
      { publicKey: first, fromMs: 2 * DAY, untilMs: 2 * DAY + 8 },
      { publicKey: first, fromMs: 5 * DAY, untilMs: 5 * DAY + 1 },
    ]);
    expect(signed.every((each) => isWithin(covered, each))).toBe(true);
    expect(isWithin(covered, { publicKey: first, atMs: 2 * DAY + 8 })).toBe(false);
    expect(coverSigned(covered, signed)).toBe(covered);
    expect(parsePublicKeys(printPublicKeys(covered))).toEqual(covered);
  });

  it("has the key in use begin with its first signature, and trusts no other key", () => {
    expect(
      coverSigned(empty, [
        { publicKey: second, atMs: 4 * DAY },
        { publicKey: second, atMs: 3 * DAY },
        { publicKey: third, atMs: 1 },
      ]),
    ).toEqual([{ publicKey: second, fromMs: 3 * DAY }, empty[1]]);
    expect(coverSigned(rotated, [{ publicKey: second, atMs: 2_999 }])).toBe(rotated);
    expect(coverSigned([], [{ publicKey: first, atMs: 1 }])).toEqual([]);
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
      "a key in use that was retired",
      printPublicKeys([
        { publicKey: first, fromMs: 5 },
        { publicKey: second, fromMs: 2, untilMs: 5 },
        { publicKey: first, fromMs: 1, untilMs: 2 },
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

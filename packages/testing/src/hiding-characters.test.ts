import { escapeText } from "@acp/core";
import { describe, expect, it } from "vitest";
import { numbersInLane } from "../../../tools/deep.js";
import { hidingCharactersIn } from "./hiding-characters.js";

describe("hidingCharactersIn()", () => {
  it.each([
    ["\u0007", "control"],
    ["\u009b", "control"],
    ["\u202e", "bidi"],
    ["\u200b", "zero width"],
    ["\ufe0f", "variation selector"],
    ["\u{e0041}", "tag"],
    ["\u2028", "line separator"],
    ["\ud800", "unpaired surrogate"],
    ["\ue000", "private use"],
    ["\u{10ffff}", "private use"],
    ["\u0378", "unassigned"],
    ["\u2800", "blank letter"],
  ])("finds %j", (character, what) => {
    expect(hidingCharactersIn(`ab${character}c`)).toEqual([
      expect.objectContaining({ at: 2, what }),
    ]);
  });

  it("finds nothing in what a reader can see, line feeds included", () => {
    expect(hidingCharactersIn('Zürich 東京 नमस्ते שלום €🙂\n│ ↪ "\\u202e" …')).toEqual([]);
  });

  it("and core's escaping agree on every code point but the letters' marks", () => {
    const different: string[] = [];
    for (const code of numbersInLane(0x11_0000)) {
      const character = String.fromCodePoint(code);
      if (character === "\n" || /\p{M}/u.test(character)) continue;
      if (hidingCharactersIn(character).length > 0 !== (escapeText(character) !== character))
        different.push(code.toString(16));
    }
    expect(different).toEqual([]);
  });

  it("finds nothing that core's escaping leaves of any code point behind a letter", () => {
    for (const block of numbersInLane(0x11_0000 / 4_096).map((at) => at * 4_096)) {
      const letters = Array.from(
        { length: 4_096 },
        (_, at) => `a${String.fromCodePoint(block + at)}b`,
      ).join("");
      expect(hidingCharactersIn(escapeText(letters))).toEqual([]);
    }
  });
});

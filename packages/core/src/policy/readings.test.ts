import { describe, expect, it } from "vitest";
import { numbersInLane } from "../../../../tools/deep.js";
import { FOLDS, createReader, isPlain, lookOf, reachKeyOf, readingsOf } from "./readings.js";

const all = (text: string): readonly string[] =>
  FOLDS.map((_, index) => readingsOf(text).of(index));

describe("readingsOf()", () => {
  it("gives plain text two readings", () => {
    expect(isPlain("Delete_All\n")).toBe(true);
    expect(new Set(all("Delete_All"))).toEqual(new Set(["Delete_All", "delete_all"]));
  });

  it.each([
    ["a combining mark", "delete\u0301_all"],
    ["many marks", "d\u0334\u0335\u0301e\u0327lete_all"],
    ["a joiner", "del\u200dete_all"],
    ["a soft hyphen", "delete\u00ad_all"],
    ["a tag", "delete\u{e0061}_all"],
    ["a variation selector", "delete\ufe0f_all"],
    ["a bidi control", "\u202edelete_all"],
    ["a control", "delete\u0001_all"],
    ["a Hangul filler", "delete\u3164_all"],
    ["full-width letters", "ｄｅｌｅｔｅ＿ａｌｌ"],
    ["mathematical letters", "𝒹𝖊𝓁ete_all"],
    ["Cyrillic letters", "dеlеtе_аll"],
    ["Greek capitals", "DΕLΕΤΕ_ΑLL"],
    ["Cherokee and Lisu", "ᎠꓰᏞᎬᎢꓰ_all"],
    ["a long s and a Kelvin sign", "delete_allſK".slice(0, 10)],
  ])("reads through %s", (_name, text) => {
    expect(all(text)).toContain("delete_all");
    expect(lookOf(text).toLowerCase()).toBe("delete_all");
  });

  it("ignores the case of other scripts", () => {
    expect(all("ΛΟΓΟΣ")[2]).toBe(all("λογος")[2]);
    expect(all("STRASSE")[1]).toBe(all("straße")[2]);
    expect(all("УДАЛИТЬ")[2]).toBe(all("удалить")[2]);
  });

  it("composes, and reads every blank as one, also where Unicode has no other form of it", () => {
    expect(all("e\u0301")[0]).toBe("é");
    for (const blank of ["\u00a0", "\u1680", "\u2028", "\u2029"])
      expect(all(`a${blank}b`)).toContain("a b");
  });

  it("reads a sigma alike wherever it stands", () => {
    for (const index of [1, 2, 3])
      expect(all("ΟΣΑ")[index]).toBe(`${all("ΟΣ")[index] ?? ""}${all("Α")[index] ?? ""}`);
  });

  it("leaves nothing to read once more, of any character", () => {
    const kinds = FOLDS.slice(2);
    const left: string[] = [];
    for (const code of numbersInLane(0x11_0000)) {
      const text = String.fromCodePoint(code);
      if (kinds.some((fold) => fold(fold(text)) !== fold(text))) left.push(code.toString(16));
    }
    expect(left).toEqual([]);
  });

  it("makes no wildcard of its compatibility forms", () => {
    for (const text of all("a＊b？c⁇d﹡é")) expect(text).not.toMatch(/[*?]/);
  });

  it("is linear where a normalizer is not", () => {
    // 400,000 marks in the order that has to be sorted: NFC alone took 45 s.
    const started = process.cpuUsage();
    all("\u0301\u0323".repeat(200_000));
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1e6).toBeLessThan(5);
  });
});

describe("createReader()", () => {
  it("does not mix up its texts", () => {
    const read = createReader();
    const texts = Array.from({ length: 20 }, (_, index) => `É${index}`);
    for (const text of [...texts, ...texts.toReversed(), "É0", "É0"])
      expect([text, read(text).text, read(text).of(1)]).toEqual([text, text, text.toLowerCase()]);
  });
});

describe("reachKeyOf()", () => {
  it("is one for names that a rule could take for each other", () => {
    for (const [a, b] of [
      ["Read", "rеad"],
      ["a\u200bb", "AB"],
      ["café", "cafe\u0301"],
    ] as const)
      expect(reachKeyOf(a)).toBe(reachKeyOf(b));
    expect(reachKeyOf("a")).not.toBe(reachKeyOf("b"));
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ROW_COLUMNS_MAX, showCount, showName, showText, wrapLine } from "./show.js";

describe("showText()", () => {
  it.each([
    ["", '""'],
    ["a\nb", '"a\\nb"'],
    [" ".repeat(39), `"${" ".repeat(39)}"`],
    [" ".repeat(40), "… 40 spaces …"],
    [`x${" ".repeat(4_000)}Risk:  low`, '"x" … 4,000 spaces … "Risk:  low"'],
    [`a${"\n".repeat(50)}${"\t".repeat(60)}b`, '"a" … 50 line breaks … … 60 tabs … "b"'],
    ["\r\n".repeat(1_000), '… 1,000 × "\\r\\n" …'],
    ["🙂".repeat(41), '… 41 × "🙂" …'],
    ["\u200b".repeat(1_000_000), '… 1,000,000 × "\\u200b" …'],
    [`${"ab".repeat(40)}a`, '… 40 × "ab" … "a"'],
    ["a… 4,000 spaces …".repeat(3), '"a… 4,000 spaces …a… 4,000 spaces …a… 4,000 spaces …"'],
  ])("shows %j as %j", (text, shown) => {
    expect(showText(text)).toBe(shown);
  });

  it("goes on after a text whose run reaches its end", () => {
    expect([showText("-".repeat(50)), showText("-".repeat(50))]).toEqual([
      '… 50 × "-" …',
      '… 50 × "-" …',
    ]);
  });
});

describe("showName()", () => {
  it.each([
    ["read_file", "read_file"],
    ["a b", '"a b"'],
    ["", '""'],
    ["-x", '"-x"'],
    ["a".repeat(200), '… 200 × "a" …'],
  ])("shows %j as %j", (name, shown) => {
    expect(showName(name)).toBe(shown);
  });
});

describe("showCount()", () => {
  it("sets thousands apart", () => {
    expect([0, 999, 1_000, 1_234_567].map(showCount)).toEqual(["0", "999", "1,000", "1,234,567"]);
  });
});

describe("wrapLine()", () => {
  it("leaves a line that fits as it is, and marks the rows that continue one", () => {
    expect(wrapLine("x".repeat(120))).toEqual(["x".repeat(120)]);
    expect(wrapLine("x".repeat(300))).toEqual([
      "x".repeat(120),
      `↪ ${"x".repeat(118)}`,
      `↪ ${"x".repeat(62)}`,
    ]);
  });

  it("takes what is not ASCII for two columns", () => {
    expect(wrapLine("東".repeat(61))).toEqual(["東".repeat(60), "↪ 東"]);
    expect(wrapLine("🙂".repeat(61))).toEqual(["🙂".repeat(60), "↪ 🙂"]);
  });

  it("cuts neither an escape nor a letter from its marks", () => {
    expect(wrapLine(`${"x".repeat(117)}\\u202e`)).toEqual(["x".repeat(117), "↪ \\u202e"]);
    expect(wrapLine(`${"x".repeat(119)}e\u0301\u0301y`)).toEqual([
      "x".repeat(119),
      "↪ e\u0301\u0301y",
    ]);
  });

  it("makes rows that are the line again, none of them wider than allowed, whatever the line is", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 50 }),
      fc.constantFrom("\\u202e", "x".repeat(90), "a\u0301", "🙂", "\\", "↪ "),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const line = pieces.join("").replaceAll("\n", "");
        const rows = wrapLine(line);
        expect(rows.map((row, index) => (index === 0 ? row : row.slice(2))).join("")).toBe(line);
        for (const row of rows) {
          const columns = [...row].reduce(
            (sum, each) => sum + (each <= "~" || each === "↪" ? 1 : 2),
            0,
          );
          expect(columns).toBeLessThanOrEqual(ROW_COLUMNS_MAX + 1);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

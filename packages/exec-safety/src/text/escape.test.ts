import fc from "fast-check";
import { describe, expect, it } from "vitest";
import vectors from "../../../../spec/vectors/text.json" with { type: "json" };
import { escapeText, quoteText } from "./escape.js";

describe("escapeText()", () => {
  it.each(vectors.cases)("escapes $name", ({ text, escaped }) => {
    expect(escapeText(text)).toBe(escaped);
  });

  it("escapes a lone surrogate, which no vector file can hold", () => {
    expect(escapeText("\ud800")).toBe("\\ud800");
  });

  it("lets no hiding character through and is idempotent, for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        const escaped = escapeText(text);
        expect(escaped).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
        expect(escapeText(escaped)).toBe(escaped);
      }),
    );
  });
});

describe("quoteText()", () => {
  it("has one reading: parsing it gives the text back", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 200 }),
        (text) => void expect(JSON.parse(quoteText(text))).toBe(text),
      ),
    );
  });
});

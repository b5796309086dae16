import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeText, quoteText } from "./escape.js";

describe("escapeText()", () => {
  it.each([
    ["a right-to-left override", "user\u202Etxt.exe", "user\\u202etxt.exe"],
    ["an isolate", "\u2066x\u2069", "\\u2066x\\u2069"],
    ["zero-width characters", "pay\u200bpal\ufeff", "pay\\u200bpal\\ufeff"],
    ["tag characters", "a\u{E0041}", "a\\udb40\\udc41"],
    ["an ANSI escape", "\u001b[2J", "\\u001b[2J"],
    ["a C1 control", "\u009b2J", "\\u009b2J"],
    ["a line break and a carriage return", "a\r\nb", "a\\u000d\\u000ab"],
    ["line separators", "a\u2028b\u2029", "a\\u2028b\\u2029"],
    ["a no-break space", "a\u00a0b", "a\\u00a0b"],
    ["a Hangul filler", "\u3164", "\\u3164"],
    ["a variation selector", "a\ufe0f", "a\\ufe0f"],
    ["a lone surrogate", "\ud800", "\\ud800"],
    ["five marks on a letter", "a\u0301\u0301\u0301\u0301\u0301", "a\\u0301\\u0301\\u0301\\u0301\\u0301"],
  ])("writes %s as an escape", (_, text, want) => {
    expect(escapeText(text)).toBe(want);
  });

  it("leaves what a reader can see", () => {
    const text = "Zürich, 東京, नमस्ते, שלום, 50 € – “ok” 🙂";
    expect(escapeText(text)).toBe(text);
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
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => void expect(JSON.parse(quoteText(text))).toBe(text)));
  });
});

import { describe, expect, it } from "vitest";
import { logText } from "./log-text.js";

describe("logText()", () => {
  it.each([
    ["plain grüezi 😀\ttab", "plain grüezi 😀\ttab"],
    ["a\r\nb\u0000\u001b[31m\u007f\u0085", "a\\u000d\\u000ab\\u0000\\u001b[31m\\u007f\\u0085"],
    ["\u202eevil\u2066\u200b\ufeff\u2028", "\\u202eevil\\u2066\\u200b\\ufeff\\u2028"],
  ])("shows %j as one harmless line", (text, shown) => {
    expect(logText(text)).toBe(shown);
  });

  it("cuts what is long and says how long it was", () => {
    expect(logText("x".repeat(2_000))).toHaveLength(2_000);
    expect(logText("x".repeat(2_001))).toBe(`${"x".repeat(2_000)}… (2001 characters)`);
  });
});

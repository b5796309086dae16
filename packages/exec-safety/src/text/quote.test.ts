import { expect, it } from "vitest";
import { quote } from "./quote.js";

it("quote() keeps untrusted text short, on one line and readable in one way", () => {
  expect(quote("plain")).toBe('"plain"');
  expect(quote('a"\n\u001b\u202e')).toBe('"a\\"\\n\\u001b\\u202e"');
  expect(quote("x".repeat(1_000))).toBe(`"${"x".repeat(80)}…"`);
});

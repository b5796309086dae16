import fc from "fast-check";
import { expect, it } from "vitest";
import { squeezed } from "./short-forms.js";

/** The same by its definition. */
function plainly(text: string): string {
  const isAbsolute = text.startsWith("/");
  const kept: string[] = [];
  for (const segment of text.split("/")) {
    if (segment === "" || segment === ".") continue;
    const last = kept.at(-1);
    if (segment !== "..") kept.push(segment);
    else if (last !== undefined && last !== "..") kept.pop();
    else if (!isAbsolute) kept.push(segment);
  }
  return `${isAbsolute ? "/" : ""}${kept.join("/")}`;
}

it("squeezed() says what the parts of a path say, where that is short enough, and nothing else", () => {
  const part = fc.constantFrom("", ".", "..", "...", "a", "..a", "a.", "name", "./", "../", "/");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), fc.nat(40), (parts, charsMax) => {
      const text = parts.join("/");
      const whole = plainly(text);
      expect(squeezed(text, charsMax)).toBe(whole.length <= charsMax ? whole : undefined);
    }),
    { numRuns: 2_000 },
  );
});

it.each([
  ["nothing but names", "a/".repeat(500_000), undefined],
  ["dots", `${"./".repeat(400_000)}b`, "b"],
  ["up again at the end", `${"a/".repeat(100_000)}${"../".repeat(100_000)}b`, "b"],
])("squeezed() goes through a long text: %s", (_, text, want) => {
  expect(squeezed(text, 4_096)).toBe(want);
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Frame, layOut } from "./layout.js";

const frame: Frame = (hiddenChars) => ({
  heading: "HEADING",
  foot: hiddenChars === 0 ? "FOOT" : `FOOT, ${hiddenChars} hidden`,
});
const linesOf = (count: number, line = "line"): string =>
  Array.from({ length: count }, (_, i) => `${line} ${i}`).join("\n");

describe("layOut()", () => {
  it("leaves a text whole that fits", () => {
    expect(layOut("a\nb", frame)).toEqual({ text: "HEADING\n\na\nb\n\nFOOT", hiddenChars: 0 });
    const body = "x".repeat(4_096 - "HEADING\n\n\n\nFOOT".length);
    expect(layOut(body, frame).hiddenChars).toBe(0);
    expect(layOut(`${body}x`, frame).hiddenChars).toBeGreaterThan(0);
  });

  it("cuts a long line in its middle, and says how much", () => {
    const { text, hiddenChars } = layOut(`first\n${"x".repeat(10_000)} rm -rf /\nlast`, frame);
    expect(text).toContain("first\nxxx");
    expect(text).toContain(`[…${hiddenChars} characters…]`);
    expect(text).toContain(`x rm -rf /\nlast\n\nFOOT, ${hiddenChars} hidden`);
  });

  it("cuts many lines in their middle, so that padding pushes neither beginning nor end out of view", () => {
    for (const body of [
      linesOf(200),
      `Agent: a\n${"\n".repeat(3_000)}\nDigest: d`,
      linesOf(5_000, "a longer line of text"),
    ]) {
      const { text, hiddenChars } = layOut(body, frame);
      const [start, end] = [body.split("\n")[0], body.split("\n").at(-1)];
      expect(text.split("\n").length).toBeLessThanOrEqual(100);
      expect(text.startsWith(`HEADING\n\n${start}\n`)).toBe(true);
      expect(text.endsWith(`\n${end}\n\nFOOT, ${hiddenChars} hidden`)).toBe(true);
      expect(text).toMatch(/\[…\d+ lines, \d+ characters…\]/);
    }
  });

  it("never makes more than a message, and counts every character that it hides", () => {
    const line = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.integer({ min: 0, max: 6_000 }).map((units) => "y".repeat(units)),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 150 }), (lines) => {
        const body = lines.join("\n");
        const { text, hiddenChars } = layOut(body, frame);
        expect(text.length).toBeLessThanOrEqual(4_096);
        if (hiddenChars === 0) {
          expect(text).toContain(body);
          return;
        }
        const inside = text.slice("HEADING\n\n".length, text.lastIndexOf("\n\nFOOT"));
        const said = Array.from(
          inside.matchAll(/\[…(?:\d+ lines, )?(\d+) characters…\]/g),
          ([, count]) => Number(count),
        );
        expect(said.reduce((sum, count) => sum + count, 0)).toBe(hiddenChars);
        // What stands there without the marks, and the count, make the whole.
        const shown = inside
          .replaceAll(/ \[…\d+ characters…\] /g, "")
          .replace(/(^|\n)\[…\d+ lines, \d+ characters…\]/, "");
        expect(Math.abs(shown.length + hiddenChars - body.length)).toBeLessThanOrEqual(1);
      }),
    );
  });
});

import { describe, expect, it } from "vitest";
import { readTime, readWhen } from "./times.js";

const NOW_MS = new Date(2026, 0, 15, 12, 30).getTime();
const local = (...parts: readonly [number, number, number?, number?]): number =>
  new Date(2026, ...parts).getTime();

describe("readTime()", () => {
  it.each([
    ["2026-01-15T10:30:00Z", Date.UTC(2026, 0, 15, 10, 30)],
    ["2026-01-15T10:30:00+01:00", Date.UTC(2026, 0, 15, 9, 30)],
    ["2026-01-14 14:03", local(0, 14, 14, 3)],
    ["2026-01-14", local(0, 14)],
    ["yesterday", local(0, 14)],
    ["yesterday 14:03", local(0, 14, 14, 3)],
    ["12:00", local(0, 15, 12)],
  ])("reads %j, of this machine's clock where it has no zone", (text, ms) => {
    expect(readTime(text, "since", NOW_MS)).toBe(ms);
    expect(readTime(text, "until", NOW_MS)).toBe(ms);
  });

  it.each(["", "last week", "2026-02-30", "25:00", "2026", "1h"])("refuses %j", (text) => {
    expect(() => readTime(text, "since", NOW_MS)).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});

describe("readWhen()", () => {
  it("also takes how long ago it was", () => {
    expect(readWhen("2h", "since", NOW_MS)).toBe(NOW_MS - 7_200_000);
    expect(readWhen("yesterday", "since", NOW_MS)).toBe(local(0, 14));
  });
});

import { expect, it } from "vitest";
import { slowest } from "./slowest.mjs";

it("slowest() names the ten that took longest, with what they cost", () => {
  const files = Array.from({ length: 12 }, (_, index) => ({
    file: `${index}.test.ts`,
    ms: 2_000 + index * 100,
    cpuMs: index === 11 ? undefined : 1_500,
  }));
  const lines = slowest(files);
  expect(lines).toHaveLength(11);
  expect(lines.slice(0, 3)).toEqual([
    "slowest:",
    "    3.1 s                11.test.ts",
    "    3.0 s     1.5 s CPU  10.test.ts",
  ]);
});

it("slowest() is silent about files that nobody waits for", () => {
  expect(slowest([{ file: "a.test.ts", ms: 1_999 }])).toEqual([]);
});

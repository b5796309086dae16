import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createZoneClocks } from "../src/policy/conditions.js";
import { compileGlob } from "../src/policy/glob.js";
import { matchGlob } from "../src/policy/pattern.js";
import { createReader } from "../src/policy/readings.js";
import { compileStance } from "../src/policy/stance.js";
import { origins, paths, wordPatterns, words } from "./policy-arbitraries.js";

/** The definition of a glob, without any cleverness. */
function naiveGlob(pattern: readonly string[], text: readonly string[]): boolean {
  const [head, ...rest] = pattern;
  if (head === undefined) return text.length === 0;
  if (head === "*")
    return naiveGlob(rest, text) || (text.length > 0 && naiveGlob(pattern, text.slice(1)));
  const [first, ...more] = text;
  return first !== undefined && (head === "?" || head === first) && naiveGlob(rest, more);
}

function naivePath(pattern: readonly string[], segments: readonly string[]): boolean {
  const [head, ...rest] = pattern;
  if (head === undefined) return segments.length === 0;
  if (head === "**")
    return (
      naivePath(rest, segments) || (segments.length > 0 && naivePath(pattern, segments.slice(1)))
    );
  const [first, ...more] = segments;
  return first !== undefined && naiveGlob([...head], [...first]) && naivePath(rest, more);
}

const letters = fc.constantFrom("a", "b", "A", "\n", ".", "é", "💥", "İ");
const texts = fc.array(letters, { maxLength: 12 }).map((parts) => parts.join(""));
const patterns = fc
  .array(fc.oneof(letters, fc.constantFrom("*", "?", "*", "?")), { maxLength: 8 })
  .map((parts) => parts.join(""));

describe("globs", () => {
  it("compileGlob() agrees with the definition", () => {
    fc.assert(
      fc.property(
        patterns,
        texts,
        (pattern, text) => compileGlob(pattern)(text) === naiveGlob([...pattern], [...text]),
      ),
      { numRuns: 2_000 },
    );
  });

  it("compileGlob() agrees with the definition on texts that are almost a match", () => {
    const long = fc.tuple(
      fc.array(fc.constantFrom("ab", "a?b", "aab", "??"), { minLength: 1, maxLength: 20 }),
      fc.array(fc.constantFrom("a", "b"), { maxLength: 60 }),
    );
    fc.assert(
      fc.property(long, ([stretch, text]) => {
        const piece = stretch.join("");
        const wanted = [...piece]
          .map((character) => (character === "?" ? "[^]" : character))
          .join("");
        return (
          compileGlob(`*${piece}*`)(text.join("")) === new RegExp(wanted, "u").test(text.join(""))
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it("compileStance() of a deny ignores case", () => {
    const stance = { grants: false, read: createReader() };
    fc.assert(
      fc.property(
        wordPatterns,
        words,
        (pattern, text) =>
          compileStance(pattern, stance)(text) ===
          naiveGlob([...pattern.toLowerCase()], [...text.toLowerCase()]),
      ),
    );
  });

  it("matchGlob() agrees with the definition on paths", () => {
    const segments = fc.array(fc.constantFrom("a", "b", "ab", ".x"), { maxLength: 5 });
    const parts = fc
      .array(fc.constantFrom("a", "*", "a*", "?", "**"), { maxLength: 5 })
      .filter((each) => each.filter((part) => part === "**").length <= 2);
    fc.assert(
      fc.property(
        parts,
        segments,
        (pattern, path) =>
          matchGlob({ path: `/${pattern.join("/")}` }, `/${path.join("/")}`) ===
          naivePath(pattern, path),
      ),
      { numRuns: 2_000 },
    );
  });

  it("matchGlob() never lets .. out of the directory that is allowed", () => {
    fc.assert(
      fc.property(paths, (path) => {
        if (!matchGlob({ path: "/work/**" }, path, origins)) return;
        const url = new URL(
          `file://${path.startsWith("/") ? "" : path.startsWith("~") ? "/home/ada/" : "/work/"}${path.replace(/^~\//, "")}`,
        );
        expect(`${url.pathname}/`.replaceAll(/\/+/g, "/")).toMatch(/^\/work\//);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("time zones", () => {
  const zones = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "America/St_Johns",
    "Pacific/Apia",
    "Africa/Casablanca",
    "Pacific/Chatham",
    "Africa/Monrovia",
  ];
  const plain = (zone: string, nowMs: number): number => {
    const parts = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      hour: "numeric",
      minute: "numeric",
      hourCycle: "h23",
    }).formatToParts(nowMs);
    const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
    return of("hour") * 60 + of("minute");
  };

  it("createZoneClocks() agrees with plain Intl, also when asked in any order", () => {
    const clocks = createZoneClocks();
    const moments = fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(2100, 0) });
    const steps = fc.array(fc.constantFrom(-60_000, -1, 0, 1, 30_000, 59_999, 60_000, 900_000), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(fc.constantFrom(...zones), moments, steps, (zone, start, offsets) => {
        for (const offset of [0, ...offsets])
          expect(clocks(zone)(start + offset)).toBe(plain(zone, start + offset));
      }),
      { numRuns: 300 },
    );
  });

  it("createZoneClocks() is right in every minute around the changes of 2026", () => {
    const clock = createZoneClocks()("Europe/Berlin");
    for (const change of [Date.UTC(2026, 2, 29, 1), Date.UTC(2026, 9, 25, 1)]) {
      for (let minute = -90; minute <= 90; minute++) {
        const nowMs = change + minute * 60_000;
        expect(clock(nowMs)).toBe(plain("Europe/Berlin", nowMs));
      }
    }
  });
});

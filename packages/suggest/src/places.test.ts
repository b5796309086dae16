import { describe, expect, it } from "vitest";
import { matchGlob } from "@acp/core/policy";
import {
  commonPlace,
  directoryText,
  isBounded,
  placeOf,
  placePattern,
  placeText,
} from "./places.js";
import type { CommonPlace, Place } from "./places.js";

const origins = { home: "/home/ada", cwd: "/work" };
const common = (paths: readonly string[]): CommonPlace | undefined =>
  commonPlace(
    paths
      .map((path) => placeOf(path, origins))
      .filter((place): place is Place => place !== undefined),
  );
const patternOf = (paths: readonly string[]): string | undefined => {
  const place = common(paths);
  return place === undefined || !isBounded(place, origins)
    ? undefined
    : placePattern(place, origins);
};

describe("placeOf()", () => {
  it.each([
    ["/a/../b", { base: "/", segments: ["b"] }],
    ["~/a", { base: "/", segments: ["home", "ada", "a"] }],
    ["a/./b", { base: ".", segments: ["a", "b"] }],
    ["a/../../b", undefined],
    ["..", undefined],
    ["a\\b", undefined],
    ["file:///a", undefined],
    ["~bob/x", undefined],
    ["", undefined],
  ])("of %j", (path, place) => {
    expect(placeOf(path, origins)).toEqual(place);
  });

  it("knows no home where none is given", () => {
    expect(placeOf("~/a", {})).toBeUndefined();
  });
});

describe("a pattern over places", () => {
  it.each([
    [["~/p/app/a.md", "~/p/app/b.md"], "~/p/app/*.md"],
    [["~/p/app/a.md", "~/p/app/b.txt"], "~/p/app/*"],
    [["~/p/app/a.md", "/home/ada/p/app/x/b.md"], "~/p/app/**/*.md"],
    [["/srv/app/a", "/srv/app/x/b"], "/srv/app/**"],
    [["/srv/app", "/srv/app/x"], "/srv/app/**"],
    [["/srv/app/.env", "/srv/app/.npmrc"], "/srv/app/*"],
    [["src/a.ts", "src/x/b.ts"], "src/**/*.ts"],
    [["a.md", "b.md"], "*.md"],
  ])("of %j is %s, and covers each of them", (paths, pattern) => {
    expect(patternOf(paths)).toBe(pattern);
    for (const path of paths) expect(matchGlob({ path: pattern }, path, origins)).toBe(true);
  });

  it.each([
    [["/etc/passwd", "/etc/hosts"]],
    [["/a/b", "/c/d"]],
    [["~/a", "~/b"]],
    [["/home/ada", "/home/ada/x"]],
    [["/home/ada/x", "/home/bob/x"]],
    [["a.md", "b.txt"]],
    [["a.md", "x/b.md"]],
    [["/work/a.md", "b.md"]],
    [["/srv/a*b/x", "/srv/a*b/y"]],
  ])("of %j is none", (paths) => {
    expect(patternOf(paths)).toBeUndefined();
  });
});

describe("placeText()", () => {
  it.each([
    [["~/p/app/a.md", "~/p/app/b.md"], "every path directly in ~/p/app whose name ends in .md"],
    [["/srv/app/a", "/srv/app/x/b"], "every path anywhere below /srv/app"],
    [["a.md", "b.md"], "every path directly in the working directory whose name ends in .md"],
  ])("of %j", (paths, text) => {
    const place = common(paths);
    if (place === undefined) throw new Error("no place");
    expect(placeText(place, directoryText(place, origins) ?? "?")).toBe(text);
  });
});

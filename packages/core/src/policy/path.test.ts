import { describe, expect, it } from "vitest";
import { normalizePath } from "./path.js";
import { matchGlob } from "./pattern.js";

const origins = { home: "/home/ada", cwd: "/work" };

describe("normalizePath()", () => {
  it.each([
    ["/", []],
    ["/a/b", ["a", "b"]],
    ["//a///b/", ["a", "b"]],
    ["/a/./b/../c", ["a", "c"]],
    ["/../../a", ["a"]],
    ["a", ["work", "a"]],
    ["../a", ["a"]],
    ["../../../a", ["a"]],
    [".", ["work"]],
    ["~", ["home", "ada"]],
    ["~/a", ["home", "ada", "a"]],
    ["~/../bob", ["home", "bob"]],
    ["/a/~/b", ["a", "~", "b"]],
    ["/a:b/c", ["a:b", "c"]],
    ["/...", ["..."]],
    ["/%2e%2e/a", ["%2e%2e", "a"]],
    ["/a\n/b ", ["a\n", "b "]],
  ])("of %j is %j", (path, want) => {
    expect(normalizePath(path, origins)).toEqual(want);
  });

  it.each([
    "",
    "a\0",
    "a\\b",
    "\\\\server\\share",
    "~bob",
    "~bob/x",
    "file:///a",
    "file:/a",
    "C:/a",
    "c:",
    "a:b",
    `/${"a".repeat(256)}`,
    `/${"a/".repeat(2048)}`,
  ])("of %j is unknown", (path) => {
    expect(normalizePath(path, origins)).toBeUndefined();
  });

  it.each(["a", ".", "../a"])("of %j is unknown without a working directory", (path) => {
    expect(normalizePath(path, { home: "/home/ada" })).toBeUndefined();
  });

  it.each(["~", "~/a"])("of %j is unknown without a home", (path) => {
    expect(normalizePath(path, { cwd: "/work" })).toBeUndefined();
  });
});

describe("parsePathPattern()", () => {
  // Two ** and two * in every segment: within the limits, and more than a regular expression can
  // bear (13.8 s for three such segments).
  it.each([
    ["segments with two *", `${"/*a*a".repeat(15)}/x`, `/${`${"a".repeat(255)}/`.repeat(15)}y`],
    [
      "** around them",
      `/**/*a*a/**${"/*a*a".repeat(7)}/x`,
      `/${`${"a".repeat(255)}/`.repeat(15)}y`,
    ],
    ["many short segments", `/**${"/a".repeat(58)}/b/**/c`, `/${"a/".repeat(2_000)}d`],
  ])("is done with a hostile path: %s", (_name, pattern, path) => {
    expect(matchGlob({ path: pattern }, path)).toBe(false);
  });
});

import { describe, expect, it } from "vitest";
import type { JsonValue } from "@acp/core";
import type { Leaf, Scalar } from "./leaves.js";
import { narrow } from "./narrow.js";
import type { Trait } from "./traits.js";

const context = { origins: { home: "/home/ada", cwd: "/work" }, grants: true };
const leaf = (values: readonly Scalar[], hasGaps = false): Leaf => ({
  path: ["x"],
  values,
  hasGaps,
});
const of = (trait: Trait, values: readonly Scalar[], hasGaps = false): JsonValue | undefined => {
  const found = narrow(leaf(values, hasGaps), trait, context);
  return "problem" in found ? `(${found.problem})` : (found.pattern ?? "(not named)");
};

describe("narrow()", () => {
  it.each<[Trait, readonly Scalar[], JsonValue]>([
    ["free", ["x"], "x"],
    ["free", [5], 5],
    ["exact", [true], true],
    ["free", [0.5], 0.5],
    ["free", ["line\nline"], "line\nline"],
    ["path", ["/etc/passwd"], "/etc/passwd"],
  ])("takes one value for itself: %s %j", (trait, values, pattern) => {
    expect(of(trait, values)).toEqual(pattern);
  });

  it.each<[readonly Scalar[], JsonValue]>([
    [["Fix: a", "Fix: b"], "Fix: *"],
    [["ada@example.com", "bob@example.com"], "*@example.com"],
    [["acme-1.log", "acme-22.log"], "acme-*.log"],
    [["apple", "april"], "*"],
    [["a-x", "a-y"], "*"],
    [["x", 5], "*"],
    [[1, 2], "*"],
    [["Hi *: a", "Hi *: b"], "*"],
    [["a\n\nb: 1", "a\n\nb: 2"], "*"],
    [["x".repeat(5_000)], "*"],
    [["\u0007"], "*"],
    [["what?"], "*"],
    [["abab: ab", "ab: ab"], "*: ab"],
  ])("opens a free text as little as it can: %j", (values, pattern) => {
    expect(of("free", values)).toEqual(pattern);
  });

  it("names no argument that was not always given", () => {
    expect(of("free", ["x"], true)).toBe("(not named)");
    expect(of("free", [], true)).toBe("(not named)");
  });

  it.each<[Trait, readonly Scalar[], boolean?]>([
    ["exact", ["a", "b"]],
    ["exact", ["select * from t"]],
    ["exact", ["a"], true],
    ["path", ["/etc/a", "/usr/b"]],
    ["path", ["~/a", "~/b"]],
    ["path", ["/srv/*/a"]],
    ["path", ["/srv/x/a", 5]],
    ["path", ["/srv/x/a", "a\\b"]],
    ["path", ["/srv/x/a"], true],
    ["address", ["https://a.example/x", "https://b.example/x"]],
    ["address", ["https://ada@a.example/x?y=*", "https://ada@a.example/z"]],
    ["address", ["x", "y"]],
    ["free", ["delete"]],
    ["exact", ["drop"]],
  ])("has no pattern for %s %j", (trait, values, hasGaps = false) => {
    expect(of(trait, values, hasGaps)).toMatch(/^\(.+\)$/);
  });

  it("opens an address no further than its host", () => {
    expect(of("address", ["https://a.example/x/1", "https://a.example/x/2?q=1"])).toBe(
      "https://a.example/*",
    );
    expect(of("address", ["https://a.example/x?q=1"])).toBe("https://a.example/*");
  });

  it("opens a path no further than its directory, and says where it starts", () => {
    expect(narrow(leaf(["src/a.ts", "src/b.ts"]), "path", context)).toEqual({
      pattern: { path: "src/*.ts" },
      covers: "every path directly in src whose name ends in .ts",
      width: "part",
      isRelative: true,
    });
  });

  it("lets a rule that denies be as wide as it is, and say what is denied", () => {
    const denies = { ...context, grants: false };
    expect(narrow(leaf(["/etc/a", "/usr/b"]), "path", denies)).toMatchObject({
      pattern: { path: "/**" },
    });
    expect(narrow(leaf(["delete"]), "exact", denies)).toMatchObject({ pattern: "delete" });
  });

  it("shows values cut and escaped", () => {
    const found = narrow(leaf([`\u202e${"x".repeat(100)}`]), "free", context);
    expect("covers" in found ? found.covers : "").toMatch(/^only "\\u202ex{59}…"$/);
  });
});

import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "@acp/core";
import { conjoin } from "./conjoin.js";

const origins = { home: "/home/ada", cwd: "/work" };
const ours = (args?: JsonValue): JsonObject => ({
  server: "files",
  tool: "write_file",
  ...(args === undefined ? {} : { args }),
});
const join = (
  args: JsonValue | undefined,
  theirs: JsonObject,
  effect: "allow" | "deny" = "allow",
): JsonObject | undefined => conjoin({ match: ours(args), effect }, theirs, origins);
const joined = (args: JsonValue | undefined, theirs: JsonValue): unknown =>
  Object(join(args, { match: { args: theirs }, action: "ask" })?.["match"]).args;

describe("conjoin()", () => {
  it("is the draft itself where the default asks", () => {
    expect(conjoin({ match: ours(), effect: "deny" }, undefined, origins)).toEqual({
      match: ours(),
      action: "deny",
    });
  });

  it("keeps when and how often the asking rule applies, and not how it asks", () => {
    const asking = {
      match: { tool: "write_*", category: "write", name: "w*", server: "*" },
      action: "ask",
      conditions: { time_of_day: { after: "09:00" } },
      rate_limit: "5/hour",
      level: "low",
      timeout: 5,
      reason: "x",
      id: "writes",
    };
    expect(join(undefined, asking)).toEqual({
      match: ours(),
      action: "allow",
      conditions: asking.conditions,
      rate_limit: "5/hour",
    });
    // A deny reads names without case: what is of another category stays another rule's.
    expect(join(undefined, asking, "deny")).toEqual({
      match: { ...ours(), category: "write", name: "w*" },
      action: "deny",
      conditions: asking.conditions,
    });
  });

  it.each<[string, JsonValue | undefined, JsonValue, JsonValue]>([
    ["adds what only the asking rule looks at", { a: "x" }, { b: "y*" }, { a: "x", b: "y*" }],
    ["takes all of it where the draft has none", undefined, { b: "y*" }, { b: "y*" }],
    ["keeps one value that the other's glob covers", { a: "Abc" }, { a: "abc*" }, { a: "Abc" }],
    ["keeps a number that the other's text is", { a: 5 }, { a: "5" }, { a: 5 }],
    [
      "keeps a value in the other's directory",
      { a: "~/p/x" },
      { a: { path: "/home/ada/p/**" } },
      { a: "~/p/x" },
    ],
    [
      "keeps a directory below the other's",
      { a: { path: "~/p/x/*.md" } },
      { a: { path: "~/p/**" } },
      { a: { path: "~/p/x/*.md" } },
    ],
    [
      "keeps a directory below the root",
      { a: { path: "/srv/x/**" } },
      { a: { path: "/**" } },
      { a: { path: "/srv/x/**" } },
    ],
    [
      "keeps a relative directory below a relative one",
      { a: { path: "src/x/*" } },
      { a: { path: "src/**" } },
      { a: { path: "src/x/*" } },
    ],
    [
      "keeps whatever the other's star covers",
      { a: { path: "src/*" } },
      { a: "*" },
      { a: { path: "src/*" } },
    ],
    ["keeps what is the same", { a: "Fix: *" }, { a: "Fix: *" }, { a: "Fix: *" }],
  ])("%s", (_what, args, theirs, expected) => {
    expect(joined(args, theirs)).toEqual(expected);
  });

  it.each<[string, JsonValue, JsonValue]>([
    ["a value that the other's glob does not cover", { a: "x" }, { a: "y*" }],
    ["a wildcard under another glob", { a: "Fix: *" }, { a: "Fix*" }],
    ["any text under a glob", { a: "*" }, { a: "x*" }],
    ["a directory beside the other's", { a: { path: "~/q/**" } }, { a: { path: "~/p/**" } }],
    ["a directory above the other's", { a: { path: "~/**" } }, { a: { path: "~/p/**" } }],
    [
      "a directory under a pattern of more than a directory",
      { a: { path: "~/p/x/*" } },
      { a: { path: "~/*/x/**" } },
    ],
    ["a relative value under an absolute directory", { a: "x/y" }, { a: { path: "/work/**" } }],
    ["an absolute value under a relative directory", { a: "/work/x/y" }, { a: { path: "x/**" } }],
    ["a value that goes up", { a: "x/../../y" }, { a: { path: "x/**" } }],
    [
      "a relative directory under an absolute one",
      { a: { path: "x/*" } },
      { a: { path: "/work/**" } },
    ],
    ["a text under a map", { a: "x" }, { a: { b: "x" } }],
    ["arguments under a command", { a: "x" }, "*"],
    ["a directory under a text", { a: { path: "/srv/x/**" } }, { a: "/srv/*" }],
  ])("is nothing for %s", (_what, args, theirs) => {
    expect(join(args, { match: { args: theirs }, action: "ask" })).toBeUndefined();
  });

  it("joins commands", () => {
    const shell = (args: string, theirs: JsonObject): JsonObject | undefined =>
      conjoin(
        { match: { kind: "shell", args }, effect: "deny" },
        { match: theirs, action: "ask" },
        origins,
      );
    expect(shell("git push", { name: "git" })?.["match"]).toEqual({
      kind: "shell",
      name: "git",
      args: "git push",
    });
    expect(shell("git push", { args: "git *" })?.["match"]).toEqual({
      kind: "shell",
      args: "git push",
    });
    expect(shell("git p*", { args: "git *" })).toBeUndefined();
  });
});

import { storablePattern } from "@acp/exec-safety";
import { describe, expect, it } from "vitest";
import { isConsentError } from "../errors.js";
import {
  ALLOWLIST_ENTRIES_MAX,
  PATTERN_CHARS_MAX,
  matchAllowlist,
  parseAllowlist,
} from "./allowlist.js";
import { cpuMs } from "../../../../tools/cpu-ms.js";

// What a pattern matches is in spec/vectors/exec-config.json, run by
// test/vectors-exec-config.test.ts.

function refusal(entries: unknown): {
  readonly path: string | undefined;
  readonly message: string;
} {
  try {
    parseAllowlist(entries);
  } catch (error) {
    if (isConsentError(error, "config_invalid"))
      return { path: error.path, message: error.message };
    throw error;
  }
  throw new Error("it was not refused");
}

describe("parseAllowlist()", () => {
  it("keeps the entries as they were written, frozen", () => {
    const entries = [
      { pattern: "git **" },
      { pattern: "pnpm **", match: ["pnpm install"], notMatch: ["pnpx x"] },
    ];
    const allowlist = parseAllowlist(entries);
    expect(allowlist.entries).toEqual(entries);
    expect(() => (allowlist.entries as { pattern: string }[]).push({ pattern: "rm **" })).toThrow(
      TypeError,
    );
    entries.push({ pattern: "rm **" });
    expect(matchAllowlist(allowlist, ["rm", "x"])).toBeUndefined();
  });

  it.each(["git", "g++", "clang-15", "my_tool.sh", "7z"])(
    "takes the pattern that is stored for %s, which matches every call of it",
    (program) => {
      const { pattern } = storablePattern(program);
      const allowlist = parseAllowlist([{ pattern }]);
      expect(allowlist.find([program])).toBe(pattern);
      expect(allowlist.find([program, "a b", "--c"])).toBe(pattern);
    },
  );

  it("takes an empty list, which matches nothing", () => {
    expect(matchAllowlist(parseAllowlist([]), ["git", "status"])).toBeUndefined();
  });

  it.each([
    ["no list", { pattern: "git **" }, "", "expected a list"],
    ["no data", [{ pattern: () => "git" }], "[0].pattern", "not plain JSON data"],
    ["a text for an entry", ["git **"], "[0]", "expected a map"],
    ["no pattern", [{}], "[0]", 'no "pattern"'],
    [
      "a slip of a key",
      [{ pattern: "git **", notmatch: [] }],
      "[0].notmatch",
      "did you mean notMatch?",
    ],
    ["another type", [{ pattern: 1 }], "[0].pattern", "expected a string"],
    ["an empty pattern", [{ pattern: "" }], "[0].pattern", "the string is empty"],
    ["blanks alone", [{ pattern: "  " }], "[0].pattern", "begins or ends with a blank"],
    ["a blank at the end", [{ pattern: "git ** " }], "[0].pattern", "did you mean git **?"],
    ["two lines", [{ pattern: "git **\nrm **" }], "[0].pattern", "one line"],
    [
      "a pattern that is too long",
      [{ pattern: "a".repeat(PATTERN_CHARS_MAX + 1) }],
      "[0].pattern",
      "more than 1000 characters",
    ],
    ["every program", [{ pattern: "**" }], "[0].pattern", "the program must be named"],
    ["any program", [{ pattern: "g?t status" }], "[0].pattern", "the program must be named"],
    ["an assignment", [{ pattern: "CI=1 npm test" }], "[0].pattern", "begins with an assignment"],
    ["quotes", [{ pattern: 'git commit -m "*"' }], "[0].pattern", "without their quotes"],
    ["two commands", [{ pattern: "git status && ls" }], "[0].pattern", "about one command"],
    ["a redirection", [{ pattern: "git log 2>/dev/null" }], "[0].pattern", "about one command"],
    ["** before the end", [{ pattern: "git ** --force" }], "[0].pattern", "nothing can follow it"],
    [
      "an example that does not match",
      [{ pattern: "git *", match: ["git status", "git push origin"] }],
      "[0].match[1]",
      "does not match",
    ],
    [
      "an example that matches",
      [{ pattern: "git **", notMatch: ["git 'push'"] }],
      "[0].notMatch[0]",
      "the pattern matches",
    ],
    [
      "a line as an example",
      [{ pattern: "git **", match: ["git status; git log"] }],
      "[0].match[0]",
      "not one simple command",
    ],
    [
      "an example that is known only when it runs",
      [{ pattern: "git **", match: ["git $x"] }],
      "[0].match[0]",
      "not one simple command",
    ],
    [
      "an example with an assignment",
      [{ pattern: "git **", match: ["PAGER=x git log"] }],
      "[0].match[0]",
      "not one simple command",
    ],
    [
      "an example with a redirection",
      [{ pattern: "git **", match: ["git log > x"] }],
      "[0].match[0]",
      "not one simple command",
    ],
    [
      "examples that are no list",
      [{ pattern: "git **", match: "git status" }],
      "[0].match",
      "expected a list",
    ],
    [
      "too many entries",
      Array.from({ length: ALLOWLIST_ENTRIES_MAX + 1 }, () => ({ pattern: "a" })),
      "",
      "more than 1000 entries",
    ],
    [
      "too many examples",
      [{ pattern: "a", match: Array(101).fill("a") }],
      "[0].match",
      "more than 100 examples",
    ],
  ])("refuses %s", (_name, entries, path, message) => {
    expect(refusal(entries)).toEqual({ path, message: expect.stringContaining(message) });
  });

  it("takes an example for what the shell makes of it", () => {
    const entry = {
      pattern: "git commit -m *",
      match: ["git commit -m 'a b'", 'git commit  -m "x"'],
      notMatch: ["git commit -m a b", "git status; rm -rf x"],
    };
    expect(parseAllowlist([entry]).entries).toEqual([entry]);
  });
});

describe("matchAllowlist()", () => {
  it("names the first entry that matches, in the order of the list", () => {
    const allowlist = parseAllowlist([
      { pattern: "git push *" },
      { pattern: "npm **" },
      { pattern: "git **" },
    ]);
    expect(matchAllowlist(allowlist, ["git", "push", "origin"])).toBe("git push *");
    expect(matchAllowlist(allowlist, ["git", "push", "origin", "main"])).toBe("git **");
    expect(matchAllowlist(allowlist, ["npm"])).toBe("npm **");
  });

  it("matches nothing without a program", () => {
    expect(matchAllowlist(parseAllowlist([{ pattern: "git **" }]), [])).toBeUndefined();
  });

  it("takes time linear in the arguments, whatever the pattern", () => {
    const allowlist = parseAllowlist([{ pattern: `x ${"*a".repeat(200)}b **` }]);
    const started = cpuMs();
    expect(matchAllowlist(allowlist, ["x", "a".repeat(100_000)])).toBeUndefined();
    expect(matchAllowlist(allowlist, ["x", ...Array<string>(100_000).fill("a")])).toBeUndefined();
    // A search that goes back would take years.
    expect(cpuMs() - started).toBeLessThan(10_000);
  });
});

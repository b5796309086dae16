import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitWords } from "./words.js";

describe("splitWords()", () => {
  it.each([
    ["npx -y server /tmp", ["npx", "-y", "server", "/tmp"]],
    [" \t a \t b  ", ["a", "b"]],
    [`"a b" 'c d' e\\ f`, ["a b", "c d", "e f"]],
    [`a"b c"d'e f'`, ["ab cde f"]],
    [`a '' ""`, ["a", "", ""]],
    [`'a"b\\c$d'`, ['a"b\\c$d']],
    [`"a\\"b\\\\c\\$d\\x"`, ['a"b\\c$d\\x']],
    [`a\\$b \\~ \\#`, ["a$b", "~", "#"]],
    ["a=~/x b#c --url=https://h:1/p,q%20@+", ["a=~/x", "b#c", "--url=https://h:1/p,q%20@+"]],
    [`a '{"k":[1]}'`, ["a", '{"k":[1]}']],
  ])("splits %j", (text, words) => {
    expect(splitWords(text)).toEqual({ words });
  });

  it.each([
    "a | b",
    "a; b",
    "a && b",
    "a > f",
    "a < f",
    "a $X",
    'a "$X"',
    "a `b`",
    'a "`b`"',
    "(a)",
    "a *.txt",
    "a ?",
    "a [b]",
    "a {b,c}",
    "a ~/x",
    "a # b",
    "!a",
    "a\nb",
  ])("refuses %j, which only a shell understands", (text) => {
    expect(splitWords(text)).toEqual({ problem: expect.stringContaining("no shell") });
  });

  it.each([
    ["", "names no program"],
    ["  ", "names no program"],
    ["'' a", "names no program"],
    ["a 'b", "has no closing '"],
    ['a "b', 'has no closing "'],
    ["a\\", "ends a line with a backslash"],
    ["a\0b", "has a NUL character"],
    ["'a\0b'", "has a NUL character"],
  ])("refuses %j: it %s", (text, problem) => {
    expect(splitWords(text)).toEqual({ problem });
  });

  it("means what a shell means, wherever it does not refuse", () => {
    const piece = fc.constantFrom(
      " ",
      "\t",
      "'",
      '"',
      "\\",
      "a",
      "b",
      "$",
      "~",
      "#",
      "*",
      "-",
      "=",
      "/",
    );
    const commands = fc.array(fc.string({ unit: piece, maxLength: 12 }), {
      minLength: 40,
      maxLength: 40,
    });
    fc.assert(
      fc.property(commands, (texts) => {
        const split = texts.flatMap((text) => {
          const result = splitWords(text);
          return "words" in result ? [{ text, words: result.words }] : [];
        });
        const script = split
          .map(({ text }) => `printf '%s\\0' ${text}; printf '\\n\\0'`)
          .join("\n");
        const output = execFileSync("sh", ["-c", script], { encoding: "utf8" });
        const want = split
          .map(({ words }) => words.map((word) => `${word}\0`).join(""))
          .join("\n\0");
        expect(output).toBe(split.length === 0 ? "" : `${want}\n\0`);
      }),
    );
  });
});

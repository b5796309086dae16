import { describe, expect, it } from "vitest";
import type { Argument } from "./argument.js";
import { SAFETY_LIMITS } from "../config/limits.js";
import { printedNames } from "./names.js";
import { parseShell } from "../parse/parse-shell.js";
import { resolveArguments } from "./resolve-arguments.js";
import type { Variables } from "./argument.js";

const VARIABLES: Variables = new Map([
  ["f", [{ text: "*.ts", isGlob: true }]],
  ["d", [{ text: "src", isGlob: false }]],
  ["many", ["a", "b"].map((text) => ({ text, isGlob: false }))],
  ["blank", [{ text: "a -b", isGlob: false }]],
  ["star", [{ text: "*", isGlob: false }]],
  ["empty", [{ text: "", isGlob: false }]],
  ["later", undefined],
  ["PWD", [{ text: ".", isGlob: false }]],
]);

function argument(word: string, variables: Variables = VARIABLES): Argument {
  const parsed = parseShell(`x ${word}`, SAFETY_LIMITS);
  if ("refused" in parsed || parsed.script.body.type !== "command")
    throw new Error(`not one simple command: ${word}`);
  const [first] = resolveArguments(parsed.script.body.words.slice(1), variables, printedNames);
  if (first === undefined) throw new Error(`no argument: ${word}`);
  return first;
}

const shown = (word: string): readonly string[] | undefined =>
  argument(word).values?.map(({ text, isGlob }) => (isGlob ? `glob ${text}` : text));

describe("resolveArguments()", () => {
  it.each([
    ["'a b'", ["a b"]],
    ['"a"b\\ c', ["ab c"]],
    ["*.ts", ["glob *.ts"]],
    ["'*'.ts", ["*.ts"]],
    ["~/x", ["~/x"]],
    ['"$HOME/x"', ["~/x"]],
    ["--file=$HOME/x", ["--file=~/x"]],
    ['"$d/a"', ["src/a"]],
    ["$d/*.c", ["glob src/*.c"]],
    ["$many.txt", ["a.txt", "b.txt"]],
    ['"$many-$many"', ["a-a", "a-b", "b-a", "b-b"]],
    ["$f", ["glob *", "glob */*"]],
    ['"$f"', ["glob *.ts"]],
    ["$star", ["glob *"]],
    ['"$blank"', ["a -b"]],
    ['"$PWD/src"', ["./src"]],
    ['"$(pwd)/src"', ["./src"]],
    ["$(pwd)", ["."]],
    ["<(sort a)", ["/dev/fd/63"]],
    ["$(git ls-files)", ["glob *", "glob */*"]],
    ["$(find . -name x)", ["glob *", "glob */*"]],
    ['"$(find . -name x)"', ["glob ./*"]],
    ['"$(git rev-parse HEAD)"', ["glob x*"]],
    ['"$(git branch --show-current)"', ["glob *", "glob */*"]],
  ])("knows everything that %s can be", (word, values) => {
    expect(shown(word)).toEqual(values);
    expect(argument(word).isOne).toBe(true);
  });

  it.each([
    ['"$x"', "", true],
    ["$x", "", false],
    ["a$x", "a", false],
    ['--format="$x"', "--format=", true],
    ["$blank", "", false],
    ["$empty", "", false],
    ['"$later"', "", true],
    ["$later", "", false],
    ["$?", "", true],
    ["$#", "", true],
    ["${#x}", "", true],
    ['"$@"', "", false],
    ["$(id)", "", false],
    ["$(pwd x)", "", false],
    ["${d:0:2}", "", false],
    ['"$(id)"', "", true],
    ["src/$(id)", "src/", false],
    ["$((1+2))", "", true],
    ['"${d:-x}"', "", true],
    ["${d:-x}", "", false],
    ["x$HOME", "x", true],
    ['"$d$x"', "src", true],
    ["*$x", "", false],
    ["@(a|b)", "", false],
  ])("does not know %s", (word, leading, isOne) => {
    const { values, ...rest } = argument(word);
    expect(values).toBeUndefined();
    expect(rest).toMatchObject({ leading, isOne });
  });

  it("gives up where there are too many values", () => {
    expect(argument('"$many$many$many$many$many"').values).toHaveLength(32);
    expect(argument('"$many$many$many$many$many$many"').values).toBeUndefined();
  });

  it("says what is one word even where it holds a name that a glob has found", () => {
    expect(argument('"$f"').isQuoted).toBe(true);
    expect(argument('x"$f".bak').isQuoted).toBe(true);
    expect(argument("$f").isQuoted).toBeUndefined();
    expect(argument("*.ts").isQuoted).toBeUndefined();
    expect(argument('*"$f"').isQuoted).toBeUndefined();
  });

  it("says with which letters all values begin", () => {
    expect(argument("ab$many").leading).toBe("ab");
    expect(argument("src/*.ts").leading).toBe("src/");
    expect(argument('"x$f"').leading).toBe("x");
  });
});

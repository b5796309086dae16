import { describe, expect, it } from "vitest";
import { SAFETY_LIMITS } from "../config/limits.js";
import { parseShell } from "./parse-shell.js";
import type { Command, Script } from "./tree.js";
import { leadingText, scriptsOf, visitCommands, wordsOf } from "./visit.js";

function scriptOf(text: string): Script {
  const parsed = parseShell(text, SAFETY_LIMITS);
  if ("refused" in parsed) throw new Error(parsed.refused.message);
  return parsed.script;
}

function programsIn(text: string): readonly (string | undefined)[] {
  const programs: (string | undefined)[] = [];
  visitCommands(
    scriptOf(text),
    ({ words: [program] }: Command) =>
      void (program === undefined ? undefined : programs.push(program.text)),
  );
  return programs;
}

describe("leadingText()", () => {
  it.each([
    ["--format=$x", "--format="],
    ["'--f'\"or\"m$x-y", "--form"],
    ["$x", ""],
    ["a*b", "a"],
    ["ab", "ab"],
  ])("of %s is %j", (text, leading) => {
    const [word] = wordsOf(scriptOf(text).body);
    expect(word === undefined ? undefined : leadingText(word)).toBe(leading);
  });
});

describe("scriptsOf()", () => {
  it.each([
    ["a$(b)`c`", 2],
    ["${x:-$(a)}${y/$(b)/`c`}", 3],
    ["$((1+$(a)))", 1],
    ["{$(a),@($(b))}", 1],
    ["$(a $(b))", 1],
    ["'$(a)'", 0],
  ])("of %s finds %i", (text, count) => {
    const [word] = wordsOf(scriptOf(text).body);
    expect(word === undefined ? undefined : scriptsOf(word).length).toBe(count);
  });
});

describe("visitCommands()", () => {
  it.each([
    ['a $(b `c`) "$(d)" <(e) ${x:-$(f)} $((1+$(g)))', "abcdefg"],
    ["a && b || { c; (d); } | e; ! f; time g", "abcdefg"],
    ["if a; then b; elif c; then d; else e; fi; while f; do g; done", "abcdefg"],
    ["for x in $(a); do b; done > $(c); case $(d) in $(e)) f;; esac; g", "abcdefg"],
    ["x=$(a) y=($(b)) z[$(c)]=1 d > $(e) <<< $(f); g", "abcdefg"],
    ["[[ -f $(a) && $(b) == $(c) ]]; d & coproc { e; }; f; g", "abcdefg"],
    [
      "f() { a; }; select x in $(b); do c; done; ((x=$(d))); for ((x=$(e);;)); do g; done",
      "abcdeg",
    ],
    ['a <<E\n$(b) ${x:-$(c)} $((1+$(d)))\nE\ne; [[ a == @($(f)) ]]; echo $"$(g)"', "abcdefg"],
  ])("finds every command of %j", (text, names) =>
    expect(new Set(programsIn(text).filter((name) => name !== "echo"))).toEqual(new Set(names)),
  );
});

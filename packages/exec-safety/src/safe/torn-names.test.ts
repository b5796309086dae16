import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";

const levelOf = (command: string): string => evaluateCommandSafety(command).riskLevel;

// Run in bash beside `src/a.ts -oREADME.md b.ts`, `x .env y.ts` and names with line breaks, each of
// these wrote a file or printed `.env`.
describe("torn names", () => {
  it.each([
    ["find . -name '*.txt' | xargs sort", "find . -name '*.txt' -print0 | xargs -0 sort"],
    ["find src -name '*.ts' | xargs cat", "find src -name '*.ts' -print0 | xargs -0 cat"],
    ["find src -name '*.ts' -print | xargs cat", "find src -name '*.ts' -print0 | xargs -0 cat"],
    [
      "find . -maxdepth 2 -name '*.ts' -o -name '*.js' | xargs cat",
      "find . -maxdepth 2 \\( -name '*.ts' -o -name '*.js' \\) -print0 | xargs -0 cat",
    ],
    [
      "find . -name '*.ts' | sort | head -3 | xargs cat",
      "find . -name '*.ts' -print0 | sort -z | head -z -3 | xargs -0 cat",
    ],
    [
      "find . -type f | grep '\\.py$' | xargs cat",
      "find . -type f -print0 | grep -z '\\.py$' | xargs -0 cat",
    ],
    ["find . -type f | xargs wc -l", "find . -type f -print0 | xargs -0 wc -l"],
    ["grep -rl foo src | xargs wc -l", "grep --null -rl foo src | xargs -0 wc -l"],
    ["rg -l foo src | xargs -n1 wc -l", "rg --null -l foo src | xargs -0 -n1 wc -l"],
    ["git ls-files '*.ts' | xargs cat", "git ls-files -z '*.ts' | xargs -0 cat"],
    [
      "find . -name '*.ts' | while IFS= read -r f; do head -3 \"$f\"; done",
      "find . -name '*.ts' -print0 | while IFS= read -d '' -r f; do head -3 \"$f\"; done",
    ],
    // A line break may lead outside, and so may what the reader takes out of a name: quotes,
    // backslashes, blanks at its ends.
    [
      "find . -type f | grep '\\.py$' | while read -r f; do cat \"$f\"; done",
      "find . -type f -print0 | grep -z '\\.py$' | while IFS= read -d '' -r f; do cat \"$f\"; done",
    ],
    ["find . -type f | grep '\\.py$' | xargs -d '\\n' cat", undefined],
    [
      "git ls-files '*.ts' | xargs -I{} head -1 {}",
      "git ls-files -z '*.ts' | xargs -0 -I{} head -1 {}",
    ],
    [
      "git ls-files '*.ts' | while read -r f; do cat \"$f\"; done",
      "git ls-files -z '*.ts' | while IFS= read -d '' -r f; do cat \"$f\"; done",
    ],
    [
      "git ls-files '*.ts' | while IFS= read f; do cat \"$f\"; done",
      "git ls-files -z '*.ts' | while IFS= read -r -d '' f; do cat \"$f\"; done",
    ],
    ["git ls-files '*.ts' | while IFS= read -r -n 4 f; do cat \"$f\"; done", undefined],
    [
      "find . -name '*.ts' -print0 | while read -d '' -r f; do cat \"$f\"; done",
      "find . -name '*.ts' -print0 | while IFS= read -d '' -r f; do cat \"$f\"; done",
    ],
    ["for f in ./*.txt; do sort $f; done", 'for f in ./*.txt; do sort "$f"; done'],
    ["for f in *.txt; do cat ${f}; done", 'for f in *.txt; do cat "${f}"; done'],
  ])("%s asks, and keeps names whole in other words", (command, whole) => {
    const { riskLevel, rewrite } = evaluateCommandSafety(command);
    expect({ riskLevel, command: rewrite?.command }).toEqual({
      riskLevel: "needs-review",
      command: whole,
    });
    if (whole !== undefined) expect(levelOf(whole)).toBe("safe");
  });

  it.each([
    "for f in $(find . -name '*.txt'); do sort \"$f\"; done",
    "sort $(find . -name '*.txt')",
    "cat $(git ls-files '*.ts')",
    "x=$(git ls-files '*.ts'); cat $x",
    "fd -e ts | xargs -d , cat",
    "find . -name '*.ts' | xargs -I{} head -1 {}",
    "find . -name '*.ts' -print0 | xargs cat",
    "find . -name '*.ts' | xargs -0 cat",
    "find . -name '*.ts' -print0 | head -3 | xargs -0 cat",
    "find . -name '*.ts' -print0 | while read -r f; do cat \"$f\"; done",
    "find . -name '*.ts' | while read -r -d '' f; do cat \"$f\"; done",
    "find . -name '*.ts' | tr '\\n' '\\0' | xargs -0 cat",
    "find . -name '*.ts' | sort | xargs wc -l",
    "find . -name '*.ts' | head -200 | xargs wc -l",
    "find . -name '*.ts' | xargs -n 1 wc -l",
    "find . -name '*.ts' | xargs -I{} wc -l {}",
    "grep -rl foo | xargs -0 wc -l",
    "grep -rle foo src -Z | xargs -0 wc -l",
    'find . -maxdepth 1 -type d | while read -r d; do (cd "$d" && ls); done',
    "for d in */; do git -C $d status; done",
    "while read -r f; do sort \"$f\"; done < <(find . -name '*.txt')",
  ])("%s asks", (command) => expect(levelOf(command)).toBe("needs-review"));

  it.each([
    "find . -name '*.ts' | xargs wc -l",
    "find . -name '*.ts' | head -20 | xargs wc -l",
    "find . -name '*.ts' | tail -500 | xargs wc -l",
    "find . -type f | grep '\\.py$' | xargs wc -l",
    "find . -name '*.ts' | xargs grep -l foo",
    "find . -type f | xargs cat | wc -l",
    "find . -name '*.ts' | xargs -n 1 basename",
    "git ls-files | tr '\\n' '\\0' | xargs -0 stat",
    "git ls-files '*.ts' | while IFS= read -r f; do sort -- \"$f\"; done",
    "grep -rlZ foo src | xargs -0 wc -l",
    "for f in *.txt; do basename $f; done",
    "for f in *.txt; do wc -l $f; done",
    "x='*.ts'; cat $x",
    "x=$(git rev-parse HEAD); git show $x",
    "for h in $(git rev-list -n 3 HEAD); do git show --stat $h; done",
    "find . -name '*.ts' -print0 | xargs -0 -I{} head -1 {}",
    "find . -type d -print0 | while IFS= read -r -d '' d; do (cd \"$d\" && ls); done",
  ])("%s is safe", (command) => expect(levelOf(command)).toBe("safe"));
});

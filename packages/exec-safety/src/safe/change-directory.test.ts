import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";

const rulesOf = (command: string): readonly string[] =>
  evaluateCommandSafety(command).reasons.map(({ ruleId }) => ruleId);
const lines = (...commands: readonly string[]): readonly (readonly [string])[] =>
  commands.map((command) => [command]);

describe("the current directory", () => {
  it.each(
    lines(
      "cd src && cat ../a.ts",
      "cd src/lib && cat ../../a.ts",
      "cd src || exit 1; cat ../a.ts",
      "cd src && cd .. && ls",
      "if ! cd src; then exit; fi; cat ../a.ts",
      "if cd src; then true; else exit; fi; cat ../a.ts",
      "command cd src && cat ../a.ts",
      "pushd src >/dev/null && cat ../a.ts && popd",
      "cd -P -- src && ls",
      "(cd src && ls) && cat a.ts",
      "cd src | cat; cat a.ts",
      "cd src; cat a.ts",
      'for d in packages/*; do (cd "$d" && ls); done',
      'cd "$PWD/src" && cat "$PWD/../a.ts"',
      "if cd src; then cat ../a.ts; fi",
      'cd src && ls "$(pwd)/.."',
    ),
  )("%s is safe", (command) => expect(rulesOf(command)).toEqual([]));

  it.each(
    lines(
      "cd",
      "cd ..",
      "cd /",
      "cd ~",
      "cd -",
      "cd $x",
      'cd "$x"',
      "cd a b",
      "cd .git",
      "cd src/.claude",
      "cd .ssh",
      "pushd ..",
      "pushd",
      "pushd +1",
      "popd -n",
      "pushd src && popd && cat a.ts",
      "cd src && cat ../../a.ts",
      "cd src; cat ../a.ts",
      "cd src || true; cat ../a.ts",
      "cd src || exit 1 2; cat ../a.ts",
      "cd src || exit $x; cat ../a.ts",
      "if cd src; then exit; fi; cat ../a.ts",
      "cat ../a.ts && cd src",
      "(cd src); cat ../a.ts",
      "! cd src && cat ../a.ts",
      "env cd src",
      "cd src | cat; cat ../a.ts",
      "echo $(cd src); cat ../a.ts",
      "if cd src; then ls; fi; cat ../a.ts",
      "while cd ..; do ls; done",
      'for x in a b; do cd "$x"; done',
      'd=$PWD; cd a/b && cat "$d/../x"',
      "exit; cat ../a.ts",
      "ls && exit || cat ../a.ts",
    ),
  )("%s is not", (command) => expect(rulesOf(command)).not.toEqual([]));

  it("is taken from the options", () => {
    const levelOf = (command: string, options: object): string =>
      evaluateCommandSafety(command, options).riskLevel;
    expect(levelOf("cat ../a", { cwd: "/p/src", projectRoot: "/p" })).toBe("safe");
    expect(levelOf("cat ../../a", { cwd: "/p/src", projectRoot: "/p" })).toBe("needs-review");
    expect(levelOf("cat ../a", { cwd: "/p/src" })).toBe("needs-review");
    expect(levelOf("cat /p/a", { cwd: "/p/src", projectRoot: "/p" })).toBe("safe");
    expect(levelOf("cat a", { cwd: "/elsewhere", projectRoot: "/p" })).toBe("needs-review");
    expect(levelOf("cat a", { cwd: "src" })).toBe("needs-review");
  });
});

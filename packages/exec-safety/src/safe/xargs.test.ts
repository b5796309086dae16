import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";

const rulesOf = (command: string): readonly string[] =>
  evaluateCommandSafety(command).reasons.map(({ ruleId }) => ruleId);
const lines = (...commands: readonly string[]): readonly (readonly [string])[] =>
  commands.map((command) => [command]);

describe("xargs", () => {
  it.each(
    lines(
      "git ls-files -z '*.ts' | xargs -0 cat",
      "git ls-files '*.ts' | xargs -d '\\n' cat",
      "git ls-files | xargs wc -l --",
      "git ls-files -z | xargs -0 wc -l --",
      "find . -name '*.ts' | xargs grep -l foo",
      "find . -name '*.ts' -print0 | xargs -0 grep -n foo",
      "find . -name '*.ts' -print0 | xargs -0 -n 1 head -3",
      "git ls-files -z '*.ts' | xargs -0 -I{} head -n 1 {}",
      "git ls-files '*.ts' | xargs -d '\\n' -I{} head -n 1 {}",
      "echo a b | xargs",
      "echo a | xargs echo",
      "cat list.txt | xargs -n1 basename",
    ),
  )("%s is safe", (command) => expect(rulesOf(command)).toEqual([]));

  it.each(
    lines(
      "find . | xargs git log",
      "ls | xargs rm",
      "ls | xargs sh -c 'x'",
      "echo /etc/passwd | xargs cat",
      "cat list.txt | xargs cat",
      "git ls-files | grep .env | xargs cat",
      "git ls-files | xargs $x",
      "git ls-files | xargs -a list cat",
      "git ls-files | xargs -I{} sh -c {}",
      "git ls-files | xargs -I cat cat a.ts",
      "git ls-files | xargs -Ia cat a.ts",
      "git ls-files | xargs -I{} {}",
      "git ls-files | xargs -I{} cat /{}",
      "git ls-files '*.ts' | xargs -I{} head -n 1 {}",
      "git ls-files '*.ts' | xargs -L 1 -I{} cat {}",
      "git ls-files | xargs --arg-file=x cat",
      "ls | xargs sed -i s/a/b/",
      "git ls-files -z | xargs -0 wc -l",
      "git ls-files -z | xargs -0 -I{} wc -l {}",
      "ls | xargs -P 0 -I % touch %",
    ),
  )("%s is not", (command) => expect(rulesOf(command)).not.toEqual([]));
});

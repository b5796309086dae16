import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";

const rulesOf = (command: string): readonly string[] =>
  evaluateCommandSafety(command).reasons.map(({ ruleId }) => ruleId);
const lines = (...commands: readonly string[]): readonly (readonly [string])[] =>
  commands.map((command) => [command]);

describe("variables", () => {
  it.each(
    lines(
      'v=$(git rev-parse main); echo "$v"',
      "p=src; cat $p/a.ts",
      'p=src/a.ts; cat "$p"',
      "for f in a.ts b.ts; do cat $f; done",
      "p=a; if true; then p=b; fi; cat $p",
      'ls && p=src/a.ts; wc -l "$p"',
      'ls | p=src/a.ts; wc -l "$p"',
      '(p=src/a.ts); wc -l "$p"',
      'for f in $(git ls-files); do wc -l -- "$f"; done',
      "find . -name '*.ts' -print0 | while IFS= read -r -d '' f; do wc -l \"$f\"; done",
      "while IFS= read -r f; do head -5 \"$f\"; done < <(git ls-files '*.ts')",
      'cat a.txt | while IFS= read -r l; do echo "> $l"; done',
      'commit=$(git rev-parse main); git log -1 "$commit"',
      "find . -name 'package.json' -print0 | while IFS= read -r -d '' f; do jq . \"$f\"; done",
      "N=5; head -n $N a.txt",
      'FILES=$(git diff --name-only); echo "$FILES"',
      'for FILE in *.ts; do wc -l "$FILE"; done',
      "echo $?",
    ),
  )("%s is safe", (command) => expect(rulesOf(command)).toEqual([]));

  it.each(
    lines(
      "p=/etc; cat $p/passwd",
      'p=~/.ssh/id_rsa; cat "$p"',
      "p=x; p=/etc/passwd; cat $p",
      "p=a; if true; then p=/etc/passwd; fi; cat $p",
      "p=/etc/passwd; true || p=a; cat $p",
      "p=a; for x in 1 2; do cat $p; p=/etc/passwd; done",
      "(p=a); cat $p",
      'ls | p=/etc/passwd; cat "$p"',
      'true || p=/etc/passwd; cat "$p"',
      'cat "$p/etc/passwd"; p=a',
      'branch=$(git branch --show-current); git log -1 "$branch"',
      'cat "$f"',
      'for f in $(git ls-files); do wc -l "$f"; done',
      "find . -name '*.ts' | while read -r f; do wc -l \"$f\"; done",
      "files=$(git ls-files '*.ts' | head -3); cat $files",
      "for f in $(find src -name '*.ts'); do sed -n 1,5p \"$f\"; done",
      "ls $x",
      'grep "$x" a.ts',
      "p='-a b'; ls $p",
      "p=-i; sed $p s/a/b/ x",
      'while read -r f; do cat "$f"; done < list.txt',
      'echo /etc/passwd | while read -r f; do cat "$f"; done',
      'git ls-files | while read -r f; do cat "$f"; done < list.txt',
      'while :; do d=/etc; break; d=src; done; cat "$d/passwd"',
      "c=rm; $c -r x",
      'v=$(git rev-parse /etc/passwd); cat "$v"',
      "v=$(date +/etc/passwd); cat $v",
      'find . | while read -r a b; do cat "$b"; done',
      "read -r -d '' PATH < a",
      "read -d PATH PATH < a",
      'read "$x" < a',
      "read 'a[$(id)]' < b",
      "IFS=x echo a",
      "IFS=x; read -r a < b",
      'for f in $(cat list); do cat "$f"; done',
      'for f in /etc/*; do cat "$f"; done',
      'for f in ~/.s*/*; do cat "$f"; done',
    ),
  )("%s is not", (command) => expect(rulesOf(command)).not.toEqual([]));
});

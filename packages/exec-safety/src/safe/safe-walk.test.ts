import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";

const rulesOf = (command: string): readonly string[] =>
  evaluateCommandSafety(command).reasons.map(({ ruleId }) => ruleId);
const lines = (...commands: readonly string[]): readonly (readonly [string])[] =>
  commands.map((command) => [command]);

describe("safe commands", () => {
  it.each(
    lines(
      "ls -la",
      "ls | wc -l; pwd",
      "! ls",
      "time ls",
      "(ls)",
      "{ ls; pwd; }",
      "true && echo yes || echo no",
      "if [ -f a ]; then cat a; elif [ -f b ]; then cat b; else echo no; fi",
      'for f in src/*.ts; do head -3 "$f"; done',
      "for i in {1..3}; do echo $i; done",
      'while read -r line; do echo "$line"; done < notes.txt',
      "until true; do echo x; done",
      "case $x in a | b) ls ;; *) pwd ;; esac",
      "[[ -f package.json && $x == a* ]] && echo yes",
      "[[ 1 -lt 2 ]]",
      'echo "at $(git rev-parse --short HEAD)"',
      "echo `date`",
      "diff <(sort a) <(sort b)",
      "echo $((1 + 2))",
      "cat <<'EOF'\n$(rm x)\nEOF",
      "cat <<EOF\nhello $USER\nEOF",
      'cat <<< "$x"',
      "LC_ALL=C sort a.txt",
      "echo $HOME $PATH",
      'echo "${HOME##*/}"',
      "echo ${#x}",
      'sha=$(git rev-parse HEAD); echo "${sha:0:7}"',
    ),
  )("%s", (command) =>
    expect(evaluateCommandSafety(command)).toMatchObject({ riskLevel: "safe", reasons: [] }),
  );
});

describe("names that the shell itself lists", () => {
  it.each(
    lines(
      "echo *",
      "echo src/*.ts",
      'for f in packages/*; do echo "$f"; done',
      "echo '/etc/*'",
      'for f in src/*.ts; do uniq "$f"; done',
      "x='/etc/*'; echo \"$x\"",
    ),
  )("%s is safe", (command) => expect(rulesOf(command)).toEqual([]));

  it.each(
    lines(
      "echo /etc/*",
      "echo ../*",
      "printf '%s' ~/*",
      "echo .env*",
      "for f in /etc/*; do echo x; done",
      "for f in ~/.s*; do ls; done",
      "x='/etc/*'; echo $x",
      "[ -e /etc/p* ]",
      "uniq src/*",
      "uniq $(git ls-files)",
      "for f in src/*; do uniq $f; done",
    ),
  )("%s is not", (command) => expect(rulesOf(command)).not.toEqual([]));
});

describe("jobs in the background", () => {
  it.each(
    lines(
      "ls &",
      "ls & cat a; wait",
      "{ ls; cat a; } & wc -l b",
      "(ls | head) & sleep 1",
      "x=a & cat b",
    ),
  )("%s is safe", (command) => expect(rulesOf(command)).toEqual([]));
});

describe("constructs that are never safe by themselves", () => {
  it.each([
    ["zap &", "program.unknown"],
    ["ls & zap & wait", "program.unknown"],
    ["exit & zap", "program.unknown"],
    ["cd .. & cat x; cat ../x", "path.outside"],
    ["cd /tmp & ls", "cd.outside"],
    ["ls > x &", "redirect.file"],
    ["for x in a b; do sleep 9 & done", "loop.background"],
    ["while read x; do echo $(sleep 9 > /dev/null &); done < a", "loop.background"],
    ["while sleep 9 & false; do ls; done", "loop.background"],
    ["f() { ls; }", "syntax.function"],
    ["coproc ls", "syntax.coproc"],
    ["select x in a b; do ls; done", "syntax.select"],
    ["((x = 1))", "syntax.arithmetic"],
    ["for ((i = 0; i < 3; i++)); do ls; done", "syntax.arithmetic-for"],
    ["ls |& cat", "pipe.errors"],
    ["ls >(cat)", "expansion.write"],
    ["echo $((x + 1))", "expansion.arithmetic"],
    ["echo @(a|b)", "expansion.other"],
    ["echo ${x@P}", "variable.operator"],
    ["echo ${!x}", "variable.operator"],
    ["echo ${x:=1}", "variable.operator"],
    ["echo ${x[0]}", "variable.operator"],
    ["echo ${x/a/b}", "variable.operator"],
    ["echo ${x:y}", "variable.operator"],
    ["echo ${x:$y:1}", "variable.operator"],
    ["echo ${x:(-1)}", "variable.operator"],
    ["echo ${x:0:y}", "variable.operator"],
    ["echo ${x:a[0]}", "variable.operator"],
    ["echo $AWS_SECRET_ACCESS_KEY", "variable.environment"],
    ["echo ${GITHUB_TOKEN:-none}", "variable.environment"],
    ["cat <<EOF\n$API_KEY\nEOF", "variable.environment"],
    ["echo $api_key", "variable.environment"],
    ["[[ $x -eq 1 ]]", "test.code"],
    ["[[ 'a[$(id)]' -gt 0 ]]", "test.code"],
    ["[[ -v 'a[$(id)]' ]]", "test.code"],
    ["[[ -R x ]]", "test.code"],
    ['echo "${x:-$(zap)}"', "program.unknown"],
    ['cat <<< "$(zap)"', "program.unknown"],
    ["[[ -n $(zap) ]]", "program.unknown"],
    ["[[ a == $(zap) ]]", "program.unknown"],
    ["case $(zap) in a) ls ;; esac", "program.unknown"],
    ["case a in $(zap)) ls ;; esac", "program.unknown"],
    ["LC_ALL=$(zap) ls", "program.unknown"],
    ["a=$(zap)", "program.unknown"],
    ["a=($(zap))", "program.unknown"],
    ["for i in $(zap); do ls; done", "program.unknown"],
    ["cat <(zap)", "program.unknown"],
    ["ls `zap`", "program.unknown"],
    ["if zap; then ls; fi", "program.unknown"],
    ["if ls; then pwd; elif ls; then pwd; else zap; fi", "program.unknown"],
    ["while zap; do ls; done", "program.unknown"],
    ["ls | zap", "program.unknown"],
    ["exit; zap", "program.unknown"],
    ["! zap", "program.unknown"],
    ["time zap", "program.unknown"],
    ["(zap)", "program.unknown"],
    ["{ zap; } 2>/dev/null", "program.unknown"],
    ["f() { zap; }", "program.unknown"],
    ["a=(1 2)", "assignment.array"],
    ["a+=x", "assignment.array"],
    ["a[0]=x", "assignment.array"],
    ["PATH=.", "assignment.name"],
    ["IFS=x", "assignment.name"],
    ["https_proxy=x", "assignment.name"],
    ["for PATH in .; do ls; done", "assignment.name"],
    ["read PATH < a", "read.name"],
    ["read -r a IFS < a", "read.name"],
    ["PATH=. ls", "assignment.environment"],
    ["a=1 ls", "assignment.environment"],
    ["LC_ALL=$x ls", "assignment.environment"],
    ["PAGER=./x git log", "assignment.environment"],
    ["$x", "program.dynamic"],
    ['"$x" y', "program.dynamic"],
    ["$(echo ls)", "program.dynamic"],
    ["l?", "program.dynamic"],
    ["cd lib && ./x", "program.path"],
    ["lé", "program.name"],
    ["'' x", "program.name"],
  ])("%s", (command, rule) => expect(rulesOf(command)).toContain(rule));
});

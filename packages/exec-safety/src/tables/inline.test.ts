import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";

const rulesOf = (command: string): readonly string[] =>
  evaluateCommandSafety(command).reasons.map(({ ruleId }) => ruleId);

describe("scripts that stand in the command", () => {
  it.each([
    "python3 -I -c 'print(1)'",
    "python -Ic 'print(1)' a --b",
    "python3.12 -B -I -c 'print(open(\"a\").read())'",
    "python3 -I -S - <<'EOF'\nprint(1)\nEOF",
    "python3 -I <<< 'print(1)'",
    "cat a.json | timeout 5 python3 -I -c 'import json, sys; print(json.load(sys.stdin))'",
    "python3 -I -m json.tool a.json",
    "cat a.json | python3 -I -m json.tool --sort-keys --indent 2 | head -5",
    "python3 -I -m json.tool --indent=4 a.json --compact",
    "node -e 'console.log(1)'",
    "node -p '1 + 1' a",
    "nodejs --eval 'console.log(process.argv)'",
    'node -p \'JSON.parse(require("fs").readFileSync("package.json")).version\'',
  ])("%s is safe", (command) => expect(rulesOf(command)).toEqual([]));

  it.each([
    ["python3 -c 'print(1)'", "python3.exec"],
    ["python3 -E -c 'print(1)'", "python3.exec"],
    ["python3 -I -i -c 'print(1)'", "python3.exec"],
    ['python3 -Iu -c \'import sys; type(sys.stdout.buffer)("a", "w")\'', "python3.exec"],
    ["python3 -I -X dev -c 'print(1)'", "python3.exec"],
    ["python3 -I -m json", "python3.exec"],
    ["python3 -m json.tool a.json", "python3.exec"],
    ["python3 -I -m json.tool a.json b.json", "python3.exec"],
    ["python3 -I -m json.tool --indent 2 3 b.json", "python3.exec"],
    ["python3 -I -m json.tool --indent a b", "python3.exec"],
    ["python3 -I -m json.tool 2 b.json", "python3.exec"],
    ["python3 -I -m json.tool -- a.json b.json", "python3.exec"],
    ["python3 -I -m json.tool --so a.json", "python3.exec"],
    ["python3 -I -m json.tool *.json", "python3.exec"],
    ['python3 -I -m json.tool "$x"', "python3.exec"],
    ["python3 -I -m json.tool gcp-key.json", "path.secret"],
    ["python3 -I -m json.tool /etc/x.json", "path.outside"],
    ["python3 -I -m http.server", "python3.exec"],
    ["python3 -Im json.tool a.json", "python3.exec"],
    ["python3 -I -c 'import os'", "python3.exec"],
    ["python3 -I -c 'print(open(\".env\").read())'", "path.secret"],
    ["python3 -I -c 'print(open(\"/etc/hosts\").read())'", "path.outside"],
    ["cd /tmp; python3 -I -c 'print(open(\"a\").read())'", "path.unknown-place"],
    ['python3 -I -c "$x"', "python3.exec"],
    ["python3 -I a.py", "python3.change"],
    ["python3 -I a.py <<< 'print(1)'", "python3.change"],
    ["python3 -I -", "python3.change"],
    ["python3 -I - <<EOF\nprint($x)\nEOF", "python3.change"],
    ["python3 -I - <<< 'print(1)' < a.py", "python3.change"],
    ["python3 -I - 3<<< 'print(1)'", "python3.change"],
    ["pypy3 -I -c 'print(1)'", "pypy3.exec"],
    ["PYTHONHOME=x python3 -I -c 'print(1)'", "assignment.environment"],
    ["NODE_OPTIONS=-r./x.js node -e 'console.log(1)'", "assignment.environment"],
    ["node -e 'console.log(1)' -r ./x.js", "node.exec"],
    ["node -e 'console.log(1)' $x", "node.exec"],
    ["node -e 'console.log(1)' -- a", "node.exec"],
    ["node -r ./x.js -e 'console.log(1)'", "node.exec"],
    ["node -e 'require(\"./a.json\")'", "node.exec"],
    ['node -p \'require("fs").readFileSync(".env")\'', "path.secret"],
    ["deno eval 'console.log(1)'", "deno.change"],
    ["bun -e 'console.log(1)'", "bun.exec"],
  ])("%s is not: %s", (command, rule) => expect(rulesOf(command)).toContain(rule));

  it.each([
    ["python3 -c 'print(1)'", "python3 -I -c 'print(1)'"],
    ["ls && /usr/bin/python3 -Bc 'print(1)'", "ls && /usr/bin/python3 -I -Bc 'print(1)'"],
    ["python3 - <<'EOF'\nprint(1)\nEOF", "python3 -I - <<'EOF'\nprint(1)\nEOF"],
    ["cat a.json | python3 -m json.tool", "cat a.json | python3 -I -m json.tool"],
  ])("offers %s with -I", (command, safe) =>
    expect(evaluateCommandSafety(command).rewrite?.command).toBe(safe),
  );

  it("offers nothing where the script does more", () => {
    expect(evaluateCommandSafety("python3 -c 'import os'").rewrite).toBeUndefined();
    expect(
      evaluateCommandSafety("python3 -c 'print(open(\".env\").read())'").rewrite,
    ).toBeUndefined();
  });
});

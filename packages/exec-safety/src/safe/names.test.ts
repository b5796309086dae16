import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";
import { SAFETY_LIMITS } from "../config/limits.js";
import { printedNames } from "./names.js";
import { parseShell } from "../parse/parse-shell.js";

function lists(line: string): boolean {
  const parsed = parseShell(line, SAFETY_LIMITS);
  if ("refused" in parsed) throw new Error(`not readable: ${line}`);
  return printedNames(parsed.script) !== undefined;
}

describe("printedNames()", () => {
  it.each([
    "ls",
    "ls -1t src",
    "find . -name '*.ts' -type f",
    "find src -print0 2>/dev/null",
    "git ls-files",
    "git ls-files -z '*.ts'",
    "git diff --name-only main",
    "fd -e ts",
    "rg --files",
    "rg -l process.env src",
    "grep -rl token src",
    "git grep -l secret -- src",
    "git rev-list -n 3 HEAD",
    "git log -1 --format=%H",
    "git log main..dev --pretty=%h",
    "git branch --show-current",
    "git rev-parse --short HEAD",
    "git merge-base main origin/main",
    "date +%Y-%m-%d",
    "git ls-files | grep -v test | sort -u | head -5",
    "find . -name '*.c' | head -n 3 | tr '\\n' '\\0'",
  ])("says yes to %j", (line) => expect(lists(line)).toBe(true));

  it.each([
    "echo /etc/passwd",
    "cat list.txt",
    "ls -la",
    "ls -a",
    "find . -printf '/etc/passwd\\n'",
    "find . -ls",
    "find . -name .env",
    "find . -name '*.pem'",
    "git ls-files | grep '\\.env$'",
    "git ls-files | sed s,^,/etc/,",
    "git ls-files | grep -o x",
    "git ls-files | head -n 3 notes.txt",
    "git ls-files | tr a b",
    "git log",
    "git grep foo",
    "git grep -l foo -- .env",
    "git log --format=%s",
    "git log -1 --format=%H -p",
    "git rev-list --objects HEAD",
    "git rev-list --format=%s HEAD",
    "git rev-parse --show-toplevel",
    "git rev-parse /etc/passwd",
    "git rev-parse ../x",
    "git rev-parse --sq-quote -x",
    "git branch -a",
    "date +/etc/passwd",
    "date +%n-ox",
    "date +%F%_t-ox",
    "date +%Z-ox",
    "date +%F%%n",
    "git diff",
    "git ls-files --format='/%(path)'",
    "rg foo",
    "rg -l foo -r x",
    "grep foo src/a.ts",
    "git ls-files 2>&1",
    "git ls-files $x",
    "x=1 git ls-files",
    "git ls-files |& head",
    "git ls-files; echo /etc/passwd",
    "toString",
  ])("says no to %j", (line) => expect(lists(line)).toBe(false));
});

describe("the number of a line", () => {
  it.each([
    'sed -n "$(grep -n foo a.ts | head -1 | cut -d: -f1),+6p" a.ts',
    'sed -n "$(grep -nE foo a.ts | cut -d : -f 1 | tail -n 1)p" a.ts',
  ])("%s is safe", (command) => expect(evaluateCommandSafety(command).reasons).toEqual([]));

  it.each([
    'sed -n "$(grep -n foo a b | head -1 | cut -d: -f1)p" a',
    'sed -n "$(grep -n foo a* | head -1 | cut -d: -f1)p" a',
    'sed -n "$(grep foo a | head -1 | cut -d: -f1)p" a',
    'sed -n "$(grep -nr foo a | head -1 | cut -d: -f1)p" a',
    'sed -n "$(grep -n foo a | head -1 | cut -d: -f2)p" a',
    'sed -n "$(grep -n foo a | head -2 | cut -d: -f1)p" a',
    'sed -n "$(grep -n foo a | head -1 | cut -d: -f1)w x" a',
    // A file called `1`, and a flag with which names come first.
    'sed -n "$(grep -n foo a | cut -d: -f1 | head 1)p" a',
    'x=-r; sed -n "$(grep -n "$x" foo | head -1 | cut -d: -f1)p" a',
    // Nothing found, nothing there: what follows would be the program.
    "awk $(grep -n foo a | head -1 | cut -d: -f1) 'BEGIN { system(\"id\") }'",
    "n=$(grep -n foo a | head -1 | cut -d: -f1); awk $n 'BEGIN { system(\"id\") }'",
  ])("%s is not", (command) => expect(evaluateCommandSafety(command).reasons).not.toEqual([]));
});

describe("a name that the repository chose", () => {
  it.each([
    "git diff $(git describe --tags --abbrev=0)",
    'git diff "$(git describe --tags)"',
    "git log $(git describe --tags --abbrev=0)..HEAD",
    "git diff $(git branch --show-current)",
    'sort "$(git rev-parse --abbrev-ref HEAD)"',
    'cat "$(git branch --show-current)"',
  ])("may be a flag or a secret: %s", (command) =>
    expect(evaluateCommandSafety(command).riskLevel).toBe("needs-review"),
  );

  it.each([
    "git diff $(git rev-parse HEAD~1)",
    "git diff $(git merge-base main HEAD)",
    "git log main..$(git describe --tags)",
  ])("is none here: %s", (command) => expect(evaluateCommandSafety(command).reasons).toEqual([]));
});

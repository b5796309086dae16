import { describe, expect, it } from "vitest";
import type { Argument } from "../safe/argument.js";
import type { Finding } from "../findings.js";
import { judgeTestCommand } from "./test-expression.js";

const span = { start: 0, end: 1 };
const place = { inside: "", projectRoot: undefined, trustedWorkspace: true };

/**
 * Words of a test; `a|b` is one of two, `$x` is one that is known only when it runs, `$@` one that
 * may become several, `*` a glob.
 */
function argumentOf(raw: string): Argument {
  if (raw === "$x" || raw === "$@") return { span, raw, leading: "", isOne: raw === "$x" };
  const values = raw.split("|").map((text) => ({ text, isGlob: text === "*" }));
  return { span, raw, values, leading: raw === "*" ? "" : raw, isOne: true };
}

function findingsOf(line: string): readonly Finding[] {
  const findings: Finding[] = [];
  const [program = "", ...words] = line.split(" ");
  const report = (finding: Finding): void => void findings.push(finding);
  judgeTestCommand(
    { span, program, args: words.map(argumentOf) },
    {
      program,
      name: program,
      span,
      place,
      report,
      isFed: false,
      isShown: true,
      hidesAddresses: false,
      isCaught: false,
    },
  );
  return findings;
}

describe("judgeTestCommand()", () => {
  it.each([
    "[ ]",
    "[ a ]",
    "[ $x ]",
    "[ -f a ]",
    "[ -f $x ]",
    "[ ! -d a ]",
    "[ -n $x ]",
    "[ -z $x ]",
    "[ $x = y ]",
    "[ -f a|b ]",
    "[ 1|2 -eq 1 ]",
    "[ $x = $x ]",
    "[ $x != y ]",
    "[ 1 -gt 2 ]",
    "[ $x -eq 3 ]",
    "[ -3 -lt +4 ]",
    "[ a -nt b ]",
    "[ -f a -a -f b ]",
    "[ $x = a -o $x = b ]",
    "[ ( -f a ) ]",
    "[ ! ( -f a -o -f b ) ]",
    "test",
    "test -f a",
    "test $x = y",
  ])("finds nothing in %s", (line) => {
    expect(findingsOf(line)).toEqual([]);
  });

  it.each([
    ["[ -v a ]", "exec"],
    ["[ -v $x ]", "exec"],
    ["[ ! -v a ]", "exec"],
    ["[ -R a ]", "exec"],
    ["[ -n x -a -v a ]", "exec"],
    ["[ ( -v a ) ]", "exec"],
    ["[ a -eq 1 ]", "exec"],
    ["[ 1 -lt a[0] ]", "exec"],
    ["test -v a", "exec"],
    ["[ $x $x ]", "read"],
    ["[ $x $x $x ]", "read"],
    ["[ =|-v a ]", "read"],
    ["[ a =|!= b ]", "read"],
    ["[ 1|a -eq 1 ]", "exec"],
    ["[ $@ ]", "read"],
    ["[ -n $@ ]", "read"],
    ["[ * = a ]", "read"],
    ["[ -f * ]", "read"],
    ["[ -f a", "read"],
    ["[ -f a -a ]", "read"],
    ["[ a b ]", "read"],
    ["[ a = ]", "read"],
    ["[ -f a b ]", "read"],
    ["[ ( -f a ]", "read"],
    ["[ -o posix ]", "read"],
  ])("finds %s needs review: %s", (line, topic) => {
    expect(findingsOf(line).map(({ ruleId }) => ruleId)).toEqual([`test.${topic}`]);
  });
});

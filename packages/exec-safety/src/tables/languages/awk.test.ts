import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { awkProblem } from "./awk.js";
import { cpuMs } from "../../../../../tools/cpu-ms.js";

describe("awkProblem()", () => {
  it.each([
    "{print $1}",
    "{print}",
    "1",
    "NR==1",
    "NR > 1 && $3 ~ /^x/",
    '$1 == "a" { n++ } END { print n + 0 }',
    '{ print "> " $1 }',
    '{ print "a | b" }',
    "{ print ($1 > 2) }",
    "{ if ($1 > 2) print $2; else print $3 }",
    "$3 > 10",
    "{ print $1 }\n$2 > 3 { print }",
    "{ x = a > b }",
    "{ print a; x = b > c }",
    "{ print a\n x = b > c }",
    "/a/ { print } b > c { print }",
    "/[^]]/",
    "/start/,/end/",
    "!seen[$0]++",
    "{ print ($1 + $2) / 2 }",
    "{ s += $1 } END { print s / NR }",
    "{ a[$1] /= 2 }",
    'BEGIN { FS = ":"; OFS = "\\t" } { print $1, $NF }',
    "{ for (i = 1; i <= NF; i++) print $i }",
    "{ for (k in a) print k, a[k] }",
    "{ while (i < 3) i++ }",
    '{ printf "%-20s %s\\n", $1, $2 }',
    '{ gsub(/[^a-z]/, "_"); print toupper(substr($0, 1, 5)) }',
    "length > 80",
    "{ print length($0) / 2 }",
    "# a comment with system(\n{ print }",
    "{ if (/x/) print }",
    "$0 ~ /a/ || /b/",
    "{ print a,\n  b }",
    "{ delete a[1]; next }",
    "BEGIN { exit 1 }",
    '{ print a ? "x" : "y" }',
  ])("lets %j pass", (program) => {
    expect(awkProblem(program)).toBeUndefined();
  });

  it.each([
    ['BEGIN { system("id") }', "exec"],
    ['BEGIN { system ("id") }', "exec"],
    ['{ print | "cat" }', "exec"],
    ['{ print |& "cat" }', "exec"],
    ['{ "id" | getline x }', "exec"],
    ['BEGIN { f = "x"; @f() }', "exec"],
    ['@load "x"', "exec"],
    ["function f() { } BEGIN { f() }", "exec"],
    ["func f() { }", "exec"],
    ['{ print > "x" }', "write"],
    ['{ print>"x" }', "write"],
    ['{ print >> "x" }', "write"],
    ["{ print $1, $2 > $3 }", "write"],
    ['{ printf "%s", $0 > "x" }', "write"],
    ['{ printf("%s", $0) > "x" }', "write"],
    ['{ print (1)(2) > "x" }', "write"],
    ['{ print a,\n b > "x" }', "write"],
    ['{ print a, # c\n b > "x" }', "write"],
    ['{ print a ||\n b > "x" }', "write"],
    ['{ if (x) print > "x" }', "write"],
    ['{ print a ? b : c > "x" }', "write"],
    ["{ print (a in b) > c }", "write"],
    ["{ getline }", "read"],
    ['BEGIN { getline x < "/etc/passwd" }', "read"],
    ["BEGIN { print ENVIRON[1] }", "read"],
    ['BEGIN { ARGV[1] = "x" }', "read"],
    ["BEGIN { for (k in SYMTAB) print k }", "read"],
    ["BEGIN { PROCINFO[1] = 2 }", "read"],
    ["{ foo(1) }", "unknown"],
    ["{ print 'x' }", "unknown"],
    ['{ print "x }', "unknown"],
    ["{ print /x }", "unknown"],
    ["{ print a++ /x/ }", "unknown"],
    ["{ print length /x/ }", "unknown"],
    ["{ print $/x/ }", "unknown"],
    ["/[/]/", "unknown"],
    ["{ print é }", "unknown"],
    ["{ print \\\n 1 }", "unknown"],
  ])("stops %j: %s", (program, topic) => {
    expect(awkProblem(program)?.topic).toBe(topic);
  });

  it.each([
    ['BEGIN { if (1) /"/; system("id") # "\n}'],
    ['BEGIN { while (0) /"/; system("id") # "\n}'],
    ['{ a\n/"/ { system("id") } # "\n}'],
    ['{ x = y++ /"/; system("id") # "\n}'],
    ['{ if (a) b; else /"/; system("id") # "\n}'],
    ['/"/ { system("id") } # "'],
    ['!/"/ { system("id") } # "'],
    ['$1 ~ /"/ { system("id") } # "'],
  ])("is not led astray by a slash: %j", (program) => {
    expect(awkProblem(program)).toBeDefined();
  });

  it("stops what runs, writes or reads behind anything that it lets pass", () => {
    const pieces = fc.constantFrom(
      "{ print }",
      "NR > 1",
      "/a/ { n++ }",
      "BEGIN { x = 1 / 2 }",
      "$1 ~ /b/",
      "{ print $1, $2 }",
      "# c",
    );
    const bad = fc.constantFrom(
      '{ system("x") }',
      '{ print > "x" }',
      '{ print | "x" }',
      "{ getline }",
      "{ print ENVIRON[1] }",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 6 }), bad, (programs, last) => {
        expect(awkProblem(programs.join("\n"))).toBeUndefined();
        expect(awkProblem([...programs, last].join("\n"))).toBeDefined();
      }),
    );
  });

  it("reads 10,000 characters at once", () => {
    const start = cpuMs();
    for (const piece of ["{", '"', "/", "(", "a ", "1.", "\\", "[", "print ", "#"])
      awkProblem(piece.repeat(10_000 / piece.length));
    expect(cpuMs() - start).toBeLessThan(10_000);
  });
});

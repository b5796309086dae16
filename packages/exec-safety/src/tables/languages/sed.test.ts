import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sedProblem } from "./sed.js";
import { cpuMs } from "../../../../../tools/cpu-ms.js";

describe("sedProblem()", () => {
  it.each([
    "",
    "p",
    "1,120p",
    "$p",
    "$!d",
    "5q",
    "5q1",
    "/a/,/b/p",
    "/a/I,+3p",
    "2,~4p",
    "1~2d",
    "\\,a/b,p",
    "s/a/b/",
    "s/e/w/gI2p",
    "s|a|b|; s,c,d,",
    "s/[[:space:]]*$//",
    "s/[]x]/y/",
    "s/[^]x]/y/",
    "s/[^,]*,//",
    "s/\\//x/",
    "y/abc/xyz/",
    "/x/{s/a/b/;p}",
    "/x/{\np\n}",
    ":a;N;$!ba;s/\\n/ /g",
    "$!N;P;D",
    "1!G;h;$!d",
    "1i text; e id",
    "a x\\\ne id",
    "a\\\ntext\np",
    "# only a comment with e and w\np",
    "#n\np",
    "=",
    "l 5",
    "/a/!p",
    "/a/! p",
    "s/a/b/ ; p",
    "n;d",
    "s/a/\\\n/",
  ])("lets %j pass", (script) => {
    expect(sedProblem(script)).toBeUndefined();
  });

  it.each([
    ["e", "exec"],
    ["e id", "exec"],
    ["1e id", "exec"],
    ["1!e id", "exec"],
    ["$e", "exec"],
    ["/a/,/b/e id", "exec"],
    ["s/a/b/e", "exec"],
    ["s/a/b/gpe", "exec"],
    ["s|a|b|Ie", "exec"],
    ["p;e id", "exec"],
    ["p\ne id", "exec"],
    ["{p;e id\n}", "exec"],
    [":a;e id", "exec"],
    ["y/a/b/;e id", "exec"],
    ["y/a/b/w x", "unknown"],
    ["s/[^/]w x/y/", "unknown"],
    ["# comment\ne id", "exec"],
    ["a\\\ntext\ne id", "exec"],
    ["1i ab\ne id", "exec"],
    ["1i abc\ne id", "exec"],
    ["\\,x,e id", "exec"],
    ["1~3e id", "exec"],
    ["s/[[]]/x/;e id", "exec"],
    ["w x", "write"],
    ["W x", "write"],
    ["1w x", "write"],
    ["s/a/b/w x", "write"],
    ["s/a/b/gw x", "write"],
    ["r x", "read"],
    ["R x", "read"],
    ["s/a/b", "unknown"],
    ["s/a/b/q", "unknown"],
    ["s/a/b/ w x", "unknown"],
    ["s/[/]w x/y/", "unknown"],
    ["s/[ab/]w x/y/", "unknown"],
    ["s\na\nb\n", "unknown"],
    ["sxaxbx", "unknown"],
    ["s/a\nb/c/", "unknown"],
    ["v", "unknown"],
    ["}", "unknown"],
    ["{p", "unknown"],
    ["p q", "unknown"],
    ["1,p", "unknown"],
    ["\\", "unknown"],
    ["é", "unknown"],
  ])("stops %j: %s", (script, topic) => {
    expect(sedProblem(script)?.topic).toBe(topic);
  });

  it("stops `e`, `w` and `r` behind anything that it lets pass", () => {
    const pieces = fc.constantFrom(
      "p",
      "s/a/b/",
      "s|x|y|g",
      "/a/{p}",
      "1,3d",
      "$!N",
      ":a",
      "y/a/b/",
      "# c",
      "=",
      "5q",
    );
    const bad = fc.constantFrom("e id", "w x", "r x", "s/a/b/e", "s/a/b/w x", "/x/e", "1!w x");
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 6 }),
        bad,
        fc.constantFrom("\n", "\n\n"),
        (scripts, last, line) => {
          expect(sedProblem(scripts.join(line))).toBeUndefined();
          expect(sedProblem([...scripts, last].join(line))).toBeDefined();
        },
      ),
    );
  });

  it("reads 10,000 characters at once", () => {
    const start = cpuMs();
    for (const piece of ["{", "s/", "s/[", "\\", "1,", "/", "a\\\n", "!", "#"])
      sedProblem(piece.repeat(10_000 / piece.length));
    expect(cpuMs() - start).toBeLessThan(10_000);
  });
});

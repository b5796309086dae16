import { describe, expect, it } from "vitest";
import type { Argument } from "../safe/argument.js";
import type { Finding } from "../findings.js";
import { judgeProgram } from "./judge.js";
import type { Binary } from "./table.js";

const span = { start: 0, end: 1 };
const place = { inside: "", projectRoot: undefined, trustedWorkspace: true };
const examples = { safe: [], review: [] };

const FROB: Binary = {
  flags:
    "-a,--all -b -n,--lines:number -c?:number --color?:text -t:text -p:path --pair:text:path --mode=quiet -#",
  reviewFlags: {
    "-o,--output:path": "write: writes a file",
    "-x,--exec": "exec: runs a program",
    "-q": "change: changes it",
  },
  operands: "path*",
  examples,
};

/**
 * Arguments as they are written, where `$x` is not known, `$@` may become several words, and `*`
 * begins a glob. `a|b` is one of two. What stands before a `$x` is known: `--color=$x`.
 */
function argumentOf(raw: string): Argument {
  const dynamic = raw.indexOf("$");
  if (dynamic >= 0)
    return { span, raw, leading: raw.slice(0, dynamic), isOne: raw.charAt(dynamic + 1) !== "@" };
  const glob = raw.indexOf("*");
  const values = raw.split("|").map((text) => ({ text, isGlob: glob >= 0 }));
  const leading = glob >= 0 ? raw.slice(0, glob) : values.length === 1 ? raw : "";
  return { span, raw, values, leading, isOne: true };
}

function findingsOf(binary: Binary, line: string): readonly Finding[] {
  const findings: Finding[] = [];
  const args = line === "" ? [] : line.split(" ").map(argumentOf);
  judgeProgram({ span, program: "frob", args }, place, {
    extra: { frob: binary },
    report: (finding) => void findings.push(finding),
    isFed: false,
    isShown: false,
    hidesAddresses: false,
    isCaught: false,
  });
  return findings;
}

const idsOf = (binary: Binary, line: string): readonly string[] =>
  findingsOf(binary, line).map(({ ruleId }) => ruleId);

describe("scan()", () => {
  it.each([
    "",
    "a",
    "-a",
    "-ab",
    "-abn5",
    "-n 5 x",
    "-n5",
    "--lines=5",
    "--lines 5",
    "-20",
    "-c",
    "-c3",
    "-ac3",
    "--color",
    "--color=always",
    "--mode=quiet",
    "--pair a b",
    "-tanything",
    "-t -x",
    "-- -x",
    "- a",
    "-t$x",
    "-t $x",
    "--color=$x",
    "-abn$x",
    "a*",
    "-- *.txt",
    "a|b",
  ])("knows `frob %s`", (line) => {
    expect(idsOf(FROB, line)).toEqual([]);
  });

  it.each([
    ["an unknown flag", "-z", ["frob.unknown"]],
    ["an unknown long flag", "--what", ["frob.unknown"]],
    ["an unknown letter in a cluster", "-az", ["frob.unknown"]],
    ["a shortened flag", "--al", ["frob.unknown"]],
    ["another value than the one that is listed", "--mode=loud", ["frob.unknown"]],
    ["a value for a flag without one", "--all=x", ["frob.unknown"]],
    ["a number that is none", "-n x", ["frob.unknown"]],
    ["a flag that writes", "-o x", ["frob.write"]],
    ["one with its value attached", "-ox", ["frob.write"]],
    ["one in a cluster", "-abox", ["frob.write"]],
    ["one behind an equals sign", "--output=x", ["frob.write"]],
    ["a beginning of one", "--out=x", ["frob.write"]],
    ["a beginning of one that runs", "--ex", ["frob.exec"]],
    ["one among letters that are not known", "-zx", ["frob.unknown", "frob.exec"]],
    ["one behind an operand", "a -x", ["frob.exec"]],
    ["a path outside as a value", "-p /etc/x", ["path.outside"]],
    ["one attached", "-p/etc/x", ["path.outside"]],
    ["one as the second value", "--pair a /etc/x", ["path.outside"]],
    ["one as an operand", "a /etc/x", ["path.outside"]],
    ["a path that is not known", "-p $x", ["path.dynamic"]],
    ["an operand that is not known", "a$x", ["path.dynamic"]],
    ["what may become a flag", "$x", ["program.dynamic"]],
    ["what may become several", "$@", ["program.dynamic"]],
    ["a value that may become several", "-t $@", ["program.dynamic"]],
    ["a flag that is not known to its end", "--col$x", ["program.dynamic"]],
    ["letters that are not known to their end", "-a$x", ["program.dynamic"]],
    ["a glob among flags", "-*", ["program.dynamic"]],
    ["a glob that may find a flag", "*", ["program.dynamic"]],
    ["one of several that is a flag", "a|-x", ["program.dynamic"]],
  ])("finds %s: `frob %s`", (_name, line, ids) => {
    expect(idsOf(FROB, line)).toEqual(ids);
  });

  it("marks as liftable only what is not on the list, or changes something", () => {
    const liftable = (line: string): readonly unknown[] =>
      findingsOf(FROB, line).map(({ isLiftable }) => isLiftable);
    expect(liftable("-z")).toEqual([true]);
    expect(liftable("-q")).toEqual([true]);
    expect(liftable("-x")).toEqual([undefined]);
    expect(liftable("-o a")).toEqual([undefined]);
    expect(liftable("--out=a")).toEqual([undefined]);
    expect(liftable("$x")).toEqual([undefined]);
    expect(liftable("/etc/x")).toEqual([undefined]);
  });

  it("counts a glob as any number of operands", () => {
    const two: Binary = {
      flags: "-k:text",
      operands: "path?",
      excess: "write: writes to its second file",
      examples,
    };
    expect(idsOf(two, "a")).toEqual([]);
    expect(idsOf(two, "a*")).toEqual(["frob.write"]);
    expect(idsOf(two, "-k a*")).toEqual(["frob.write"]);
    const script: Binary = { flags: "-a", operands: "text sed path*", examples };
    expect(idsOf(script, "x p a*")).toEqual([]);
    expect(idsOf(script, "a* p")).toEqual(["frob.unknown"]);
  });

  const words: Binary = {
    style: "words",
    flags: "-name:text ( -or",
    reviewFlags: { "-exec": "exec: runs", "-delete": "write: deletes" },
    operands: "path*",
    examples,
  };
  it.each([
    ["-name -exec", []],
    [". ( -name x -or -name y", []],
    ["*.ts", []],
    [". -exec", ["frob.exec"]],
    [". -nam x", ["frob.unknown"]],
    ["*", ["program.dynamic"]],
    ["-name *", ["program.dynamic"]],
    ["*ec", ["program.dynamic"]],
    ["a$x", ["program.dynamic"]],
    ["-na$x", ["program.dynamic"]],
  ])("reads flags as words: `frob %s`", (line, ids) => {
    expect(idsOf(words, line)).toEqual(ids);
  });

  const first: Binary = {
    style: "first",
    flags: "-a",
    reviewFlags: { "-x": "exec: runs" },
    operands: "text text*",
    examples,
  };
  it.each([
    ["-a y -x", []],
    ["y $x", []],
    ["y $@", []],
    ["-x y", ["frob.exec"]],
    ["$x y", ["program.dynamic"]],
  ])("ends flags at the first operand: `frob %s`", (line, ids) => {
    expect(idsOf(first, line)).toEqual(ids);
  });

  const bare: Binary = {
    style: "bare",
    flags: "-t t f:path v",
    reviewFlags: { x: "write: unpacks", e: "secret: shows" },
    operands: "text*",
    examples,
  };
  it.each([
    ["tvf a", []],
    ["-t v", []],
    ["a.txt", []],
    ["tvf /x", ["path.outside"]],
    ["xf a", ["frob.write"]],
    ["te", ["frob.secret"]],
    ["t$x", ["program.dynamic"]],
  ])("reads a cluster without dash: `frob %s`", (line, ids) => {
    expect(idsOf(bare, line)).toEqual(ids);
  });

  const apart: Binary = {
    style: "apart",
    flags: "-a -L:number -P:text",
    reviewFlags: { "-o:path": "write: writes" },
    operands: "path*",
    examples,
  };
  it.each([
    ["-aL 2 x", []],
    ["-LP 2 x", []],
    ["-Po a x", ["frob.write"]],
    ["-L2", ["frob.unknown"]],
  ])("takes no attached values: `frob %s`", (line, ids) => {
    expect(idsOf(apart, line)).toEqual(ids);
  });

  it("lets everything pass as text where there are no flags", () => {
    expect(idsOf({ style: "text", operands: "text*", examples }, "-x --y $x $@ * /etc/x")).toEqual(
      [],
    );
  });

  it("does not expand code that takes flags from a planted file", () => {
    expect(
      idsOf(
        {
          flags: "-e:sed",
          reviewFlags: { "-i": "write: changes" },
          operands: "sed path*",
          examples,
        },
        "p *.ts",
      ),
    ).toEqual(["program.dynamic"]);
  });

  it("takes letters behind a flag of `ps` as flags, which they are where no user has that name", () => {
    const ps: Binary = { style: "bare", flags: "-a -u:processes", examples };
    expect(idsOf(ps, "-u root")).toEqual([]);
    expect(idsOf(ps, "-u0")).toEqual([]);
    expect(idsOf(ps, "-auxe")).toEqual(["frob.unknown"]);
  });
});

/**
 * evaluateCommandSafety() answers anything: it never throws, says the same twice, and its answer is
 * well formed.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { someInLane } from "../../../tools/deep.js";
import { evaluateCommandSafety } from "../src/index.js";
import type { CommandSafety, SafetyOptions } from "../src/index.js";
import { corpus } from "./corpus-kit.js";

const RANK: Readonly<Record<string, number>> = { safe: 0, "needs-review": 1, dangerous: 2 };
const REASONS_MAX = 8;

/** The laws of an answer (safety.ts). */
function expectWellFormed(command: string, safety: CommandSafety): void {
  const { riskLevel, reasons, commands, layers } = safety;
  const ranks = reasons.map(({ level }) => RANK[level] ?? Number.NaN);
  expect(Math.max(0, ...ranks)).toBe(RANK[riskLevel]);
  expect(reasons.length).toBeLessThanOrEqual(REASONS_MAX);
  expect(ranks).toEqual(ranks.toSorted((a, b) => b - a));
  for (const { ruleId, layer, message } of reasons) {
    expect(ruleId).toMatch(/^[a-z0-9][a-z0-9-]*\.[a-z0-9-]+$/);
    expect(message).toMatch(/^[^\n]{3,300}$/);
    expect(layers).toContain(layer);
  }
  for (const { span } of [...reasons, ...commands]) {
    expect(span.start).toBeGreaterThanOrEqual(0);
    expect(span.end).toBeGreaterThanOrEqual(span.start);
    expect(span.end).toBeLessThanOrEqual(command.length);
  }
}

function expectAnswer(command: string, options?: SafetyOptions): void {
  const safety = evaluateCommandSafety(command, options);
  expectWellFormed(command, safety);
  expect(evaluateCommandSafety(command, options)).toEqual(safety);
}

/** What shell text is made of, whole and in pieces. */
const PIECES: readonly string[] = [
  ..."$(){}[]<>|&;`'\"\\\n\t #!*?~=+-/%:@^,.".split(""),
  ..."$( ${ $(( <( >( )) ]] [[ && || ;; ;& ;;& |& << <<- <<< >> >| &> >& <> 2>&1 $' $\" !! {1..3} {a,b} :- @P \\\n".split(
    " ",
  ),
  ..."if then else fi for in do done while until case esac function select coproc time ! { }".split(
    " ",
  ),
  ..."ls rm -rf / ~ $HOME git -c find . -exec -delete sed -n 1,5p s/a/b/e awk {print} sort -o sudo sh -c bash curl x xargs env".split(
    " ",
  ),
  "EOF",
  "<<EOF\n",
  "\nEOF\n",
  "a=(",
  "x[0]=",
  "é",
  "\u{1f600}",
  "\u200b",
  "\ud800",
  "\udc00",
  "\0",
  "\r",
  "\u001b",
];
const shellish: fc.Arbitrary<string> = fc
  .array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom("", " ", "")), { maxLength: 60 })
  .map((pieces) => pieces.flat().join(""));

describe("evaluateCommandSafety()", () => {
  it("answers every line of the corpus in good form", () => {
    for (const { command } of someInLane(corpus)) expectAnswer(command);
  });

  it("answers every text, broken characters included", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => expectAnswer(text)),
    );
    const units = fc
      .array(fc.integer({ min: 0, max: 0xff_ff }), { maxLength: 100 })
      .map((codes) => String.fromCharCode(...codes));
    fc.assert(fc.property(units, (text) => expectAnswer(text)));
  });

  it("answers every text made of pieces of shell", () => {
    fc.assert(
      fc.property(shellish, (text) => expectAnswer(text)),
      { numRuns: 2_000 },
    );
  });

  it("answers lines of the corpus that were cut, mixed and doubled", () => {
    const line = fc.constantFrom(
      ...corpus.map(({ command }) => command).filter((command) => command.length < 1_000),
    );
    const cut = fc.tuple(line, fc.nat(1_000), line, fc.nat(1_000), fc.constantFrom(...PIECES));
    fc.assert(
      fc.property(cut, ([a, from, b, to, piece]) =>
        expectAnswer(`${a.slice(0, from % (a.length + 1))}${piece}${b.slice(to % (b.length + 1))}`),
      ),
      { numRuns: 2_000 },
    );
  });

  it("answers what is no text, and options that are none", () => {
    const values: readonly unknown[] = [
      undefined,
      null,
      0,
      Number.NaN,
      true,
      {},
      [],
      ["ls"],
      Symbol("x"),
      () => "ls",
      new Date(0),
      1n,
    ];
    for (const value of values) {
      // A caller without types may pass anything.
      const answer = evaluateCommandSafety(value as never);
      expect(answer.riskLevel).toBe("needs-review");
      expect(answer.reasons.length).toBe(1);
    }
    for (const value of values) {
      if (value === undefined) continue;
      // A caller without types may pass anything.
      const answer = evaluateCommandSafety("rm -rf /", value as never);
      expect(["needs-review", "dangerous"]).toContain(answer.riskLevel);
    }
  });

  it("answers an option that throws when it is read", () => {
    const options = {
      get projectRoot(): string {
        throw new Error("no");
      },
    };
    expect(evaluateCommandSafety("ls", options).riskLevel).toBe("needs-review");
  });

  it("answers in every directory", () => {
    const directory = fc.option(
      fc.oneof(
        fc.constantFrom("", "/", "/p", "/p/src", "/p/../q", "src", "..", "/p/"),
        fc.string({ unit: "binary", maxLength: 20 }),
      ),
      { nil: undefined },
    );
    const line = fc.constantFrom(
      ...corpus.map(({ command }) => command).filter((command) => command.length < 1_000),
    );
    fc.assert(
      fc.property(
        line,
        directory,
        directory,
        fc.boolean(),
        (command, cwd, projectRoot, trustedWorkspace) => {
          const options = {
            ...(cwd === undefined ? {} : { cwd }),
            ...(projectRoot === undefined ? {} : { projectRoot }),
            trustedWorkspace,
          };
          expectAnswer(command, options);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe("texts of 10,000 characters", () => {
  const long = (unit: string, after = ""): string =>
    unit.repeat(Math.floor((10_000 - after.length) / unit.length)) + after;
  const hostile: readonly string[] = [
    ..."$( ( { ${a:- $(( <( ` ' \" \\ [[ # ~ * ; | & < > = ! $ ${ {a, {a,b} {1..9} a=( $' \n ls; ls| ls&& a=1; if( case"
      .split(" ")
      .map((unit) => long(unit)),
    long("ls ;"),
    long("echo $(ls) "),
    long('"$a'),
    long("'a'b"),
    long("cat <<A\n"),
    long("cat <<A <<B\n"),
    long("if true; then "),
    long("for i in a; do "),
    long("case x in x) "),
    long("f() { "),
    long("! "),
    long("env "),
    long("nice timeout 5 "),
    // Each launcher has all that follow in its arguments: this once took half a minute.
    long("find . -exec "),
    long("git bisect run "),
    `find ${long("a ").slice(0, 5_000)} -exec x ${long("{} ").slice(0, 4_900)}`,
    long("bash -c "),
    long("a=$a "),
    long("${a:-"),
    long("$((1+"),
    long("[[ ! "),
    long("a|b&&c||d;"),
    long(">a "),
    long("2>&1 "),
    long("x".repeat(255).concat(" ")),
    `echo ${long("a").slice(0, 9_900)}`,
    `sed '${long("s/a/b/;").slice(0, 9_900)}' f`,
    `awk '${long("{print $1} ").slice(0, 9_900)}' f`,
    `find . ${long("-name a -o ").slice(0, 9_900)}`,
    `jq '${long(".a|").slice(0, 9_900)}' f`,
    `git log ${long("--grep=a ").slice(0, 9_900)}`,
    `rm -rf ${long("a/../").slice(0, 9_900)}`,
    `cat ${long("../").slice(0, 9_900)}`,
    `ls ${long("{a,b}").slice(0, 9_900)}`,
    `ls ${long("{1..99}").slice(0, 9_900)}`,
    `bash -c "${long("bash -c '").slice(0, 9_900)}"`,
  ];

  it.each(hostile.map((text) => [text.slice(0, 24), text] as const))(
    "%j… has an answer",
    (_start, text) => {
      expect(text.length).toBeLessThanOrEqual(10_000);
      expectAnswer(text);
    },
  );

  it("one character more needs a person", () => {
    expect(evaluateCommandSafety(`echo ${"a".repeat(9_995)}`).riskLevel).toBe("safe");
    expect(evaluateCommandSafety(`echo ${"a".repeat(9_996)}`).riskLevel).toBe("needs-review");
  });
});

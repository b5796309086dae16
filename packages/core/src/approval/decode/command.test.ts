import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCommand } from "./command.js";

const linesOf = (text: string): readonly string[] =>
  readCommand(text, "command").map(({ line }) => line);
const noShell = spawnSync("sh", ["-c", "exit 0"]).status === 0 ? "" : ", skipped: no sh";

describe("readCommand()", () => {
  it("has one line for each command and redirection", () => {
    expect(
      linesOf(
        `cat a.txt | grep 'x y' >> out 2>&1 && rm -rf "$HOME/a b" *.txt || echo no; sleep 1 & wait\nls`,
      ),
    ).toEqual([
      'sh command 1: "cat" "a.txt"',
      'sh command 2, reading what the one before writes: "grep" "x y"',
      '  redirected >> "out"',
      '  redirected 2>& "1"',
      'sh command 3, if what is before succeeded: "rm" "-rf" "$HOME/a b" (expanded) "*.txt" (expanded)',
      'sh command 4, if what is before failed: "echo" "no"',
      'sh command 5: "sleep" "1"',
      'sh command 6, without waiting for what is before: "wait"',
      'sh command 7: "ls"',
    ]);
  });

  it.each([
    [`a'b'"c"\\ d`, '"abc d"'],
    [`"a \\" b \\x"`, '"a \\" b \\\\x"'],
    ["echo ''", '"echo" ""'],
    ["echo a#b", '"echo" "a#b"'],
    ["echo ~/x ~ a~b", '"echo" "~/x" (expanded) "~" (expanded) "a~b"'],
    [
      "echo ${HOME} $1 $? '$HOME'",
      '"echo" "${HOME}" (expanded) "$1" (expanded) "$?" (expanded) "$HOME"',
    ],
    ["[ -f x ]", '"[" "-f" "x" "]"'],
    ["echo a[bc]", '"echo" "a[bc]" (expanded)'],
    ["find . -exec rm {} +", '"find" "." "-exec" "rm" "{}" "+"'],
    ["echo 2 >&1", '"echo" "2"'],
    ["echo a\u202eb", '"echo" "a\\u202eb"'],
  ])("reads the words of %s", (text, words) => {
    expect(linesOf(text)[0]?.replace("sh command 1: ", "")).toBe(words);
  });

  it.each([
    "echo $(id)",
    "echo `id`",
    "echo ${x:-y}",
    "echo $((1+1))",
    "echo $'a\\n'",
    "(ls)",
    "{ ls; }",
    "if true; then ls; fi",
    "! ls",
    "cat <<X\nrm\nX",
    "cat <<< x",
    "diff <(a) <(b)",
    "ls &> x",
    "ls |& cat",
    "ls >& x",
    "echo {a,b}",
    "ls # comment",
    "a\\\nb",
    "echo 'open",
    'echo "open',
    'echo "a `id`"',
    "| ls",
    "ls |",
    "ls && ",
    "ls ;; ls",
    "ls & ; ls",
    "> x",
    "ls >",
    "ls > > x",
    "echo a\u0007b",
    "f() { ls; }",
    "echo \\",
    " ",
  ])("does not guess what a shell makes of %j", (text) => {
    expect(linesOf(text)).toEqual([
      expect.stringMatching(
        /^command line, not decoded: from character \d+ on, only its shell reads it for certain$/,
      ),
    ]);
  });

  it("names the character from which on it is not certain", () => {
    expect(linesOf("ls && echo $(id)")).toEqual([
      "command line, not decoded: from character 12 on, only its shell reads it for certain",
    ]);
  });

  it.each(["command", "cmd", "shell_command", "commandLine", "CMD"])(
    "reads what stands under %s",
    (key) => {
      expect(readCommand("ls", key)).toHaveLength(1);
    },
  );

  it.each(["", "args", "commands", "command[]", "recommend"])(
    "leaves what stands under %j",
    (key) => {
      expect(readCommand("ls", key)).toEqual([]);
    },
  );

  it("gives its words to be looked into", () => {
    expect(readCommand("echo cm0= | sh", "command").flatMap(({ texts = [] }) => texts)).toEqual([
      "echo",
      "cm0=",
      "sh",
    ]);
  });

  // The real shell is asked what the words of each text are; whatever we are certain of, it must
  // say too.
  it.skipIf(noShell !== "")(`is certain only of words that sh reads alike${noShell}`, () => {
    const piece = fc.constantFrom(
      ..."ab =#'\"\\~!%,{}[]*?:\t1>é".split(""),
      "''",
      '""',
      "\\\\",
      '\\"',
      "{}",
      " a ",
      "'b c'",
      '"d e"',
      " #",
      "\\n",
    );
    const texts = fc
      .sample(fc.array(piece, { minLength: 1, maxLength: 12 }), { numRuns: 5_000, seed: 4 })
      .map((pieces) => pieces.join(""))
      .map((text) => ({ text, lines: linesOf(`x ${text}`) }))
      .filter(
        ({ lines }) =>
          lines.length === 1 &&
          lines[0]?.startsWith("sh command 1: ") === true &&
          !lines[0].includes("(expanded)"),
      );
    expect(texts.length).toBeGreaterThan(500);
    const script = texts
      .map(({ text }) => `set -- x ${text}\nprintf '%s\\n' "$#"; printf '<%s>\\n' "$@"\n`)
      .join("");
    const { stdout, status } = spawnSync("sh", {
      input: script,
      encoding: "utf8",
      env: {},
      maxBuffer: 1 << 26,
    });
    expect(status).toBe(0);
    const wanted = texts.map(({ lines }) => {
      const words = [
        ...(lines[0] ?? "").slice("sh command 1: ".length).matchAll(/"(?:[^"\\]|\\.)*"/g),
      ].map(([word]): unknown => JSON.parse(word));
      return `${words.length}\n${words.map((word) => `<${String(word)}>\n`).join("")}`;
    });
    expect(stdout).toBe(wanted.join(""));
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SAFETY_LIMITS } from "../config/limits.js";
import { parseShell } from "./parse-shell.js";
import type { Command, Node, Word } from "./tree.js";
import { visitCommands } from "./visit.js";

function nodeOf(text: string): Node {
  const parsed = parseShell(text, SAFETY_LIMITS);
  if ("refused" in parsed) throw new Error(parsed.refused.message);
  return parsed.script.body;
}

function commandOf(text: string): Command {
  const node = nodeOf(text);
  if (node.type !== "command") throw new Error(`${text} is a ${node.type}`);
  return node;
}

/** The second word. */
function wordOf(text: string): Word {
  const [, word] = commandOf(`echo ${text}`).words;
  if (word === undefined) throw new Error(`nothing behind echo in ${text}`);
  return word;
}

const refusalOf = (text: string, limits = SAFETY_LIMITS): string | undefined => {
  const parsed = parseShell(text, limits);
  return "refused" in parsed ? parsed.refused.ruleId : undefined;
};

describe("parseShell() of words", () => {
  it.each([
    [
      "a'b'",
      [
        { kind: "text", text: "a", quoted: false },
        { kind: "text", text: "b", quoted: true },
      ],
    ],
    [
      "a*",
      [
        { kind: "text", text: "a", quoted: false },
        { kind: "glob", text: "*" },
      ],
    ],
    ["[a-z]", [{ kind: "glob", text: "[a-z]" }]],
    ["~", [{ kind: "home", quoted: false }]],
    [
      "~/x",
      [
        { kind: "home", quoted: false },
        { kind: "text", text: "/x", quoted: false },
      ],
    ],
    [
      "a=~/x",
      [
        { kind: "text", text: "a=", quoted: false },
        { kind: "home", quoted: false },
        { kind: "text", text: "/x", quoted: false },
      ],
    ],
    ['"$HOME"', [{ kind: "home", quoted: true }]],
    ["${HOME}", [{ kind: "home", quoted: false }]],
    ["$x", [{ kind: "variable", name: "x", quoted: false, operands: [] }]],
    ['"$1"', [{ kind: "variable", name: "1", quoted: true, operands: [] }]],
    ["${#x}", [{ kind: "variable", name: "x", quoted: false, operator: "length", operands: [] }]],
    ["${!x}", [{ kind: "variable", name: "x", quoted: false, operator: "!", operands: [] }]],
  ])("reads %s", (text, pieces) => expect(wordOf(text).pieces).toEqual(pieces));

  it.each([
    ["${x:-a}", ":-"],
    ["${x##a}", "##"],
    ["${x/a/b}", "/"],
    ["${x:1}", ":"],
    ["${x@P}", "@"],
    ["${x^^}", "^^"],
    ["${x[a]}", "["],
  ])("gives the operator of %s", (text, operator) =>
    expect(wordOf(text).pieces).toMatchObject([{ kind: "variable", name: "x", operator }]),
  );

  it.each([
    "~ann/x",
    '~"/x"',
    "@(a|b)",
    '$"a"',
    "$'\\x80'",
    "$'a\\0b'",
    "$'\\cA'",
    "$'\\u00e9'",
    "${x[1]:-a}",
    "${!x*}",
    "${ ls; }",
    "$((ls) | wc)",
    "\"${x:-'a'}\"",
    "$\\\nx",
    "~\\\n/x",
    "$x\\\ny",
    "{01..03}",
    "{1..9..2}",
    "{a},b}",
    "{1..100}",
    "[$x]",
    "`echo 'a\\\nb'`",
    "a\\\nb=~",
    "a=\\\n~",
    '{"a"},b}',
    "{a,b'{a,b}'${x:-{a,b}}",
    "{[a,b]}",
    '"`echo "{a,b}"`"',
    "$(cat <<E; ls\na\nE\n)",
  ])("says that %j is something else", (text) =>
    expect(wordOf(text).pieces).toContainEqual(expect.objectContaining({ kind: "other" })),
  );

  it("counts arithmetic of digits as plain, and nothing with a name", () => {
    expect(wordOf("$((1 + (2 << 3)))").pieces).toMatchObject([
      { kind: "arithmetic", isPlain: true, scripts: [], span: { start: 5, end: 22 } },
    ]);
    expect(wordOf("$[1]").pieces).toMatchObject([{ kind: "arithmetic", isPlain: true }]);
    for (const text of ["$((x))", "$((x[1]))", "$(($x))", "$((`ls`))"])
      expect(wordOf(text).pieces).toMatchObject([{ isPlain: false }]);
  });

  it("keeps the place and the text of a word, also for each word that braces made", () => {
    const { words } = commandOf("echo  a{b,c} d");
    expect(words.map(({ raw, span, text }) => [raw, span.start, span.end, text])).toEqual([
      ["echo", 0, 4, "echo"],
      ["a{b,c}", 6, 12, "ab"],
      ["a{b,c}", 6, 12, "ac"],
      ["d", 13, 14, "d"],
    ]);
  });

  it("gives what is inside escaped backquotes the place of the whole", () => {
    const commands: Command[] = [];
    const parsed = parseShell("echo `echo \\`pwd\\``", SAFETY_LIMITS);
    if ("script" in parsed) visitCommands(parsed.script, (command) => void commands.push(command));
    expect(commands.map(({ span }) => [span.start, span.end])).toEqual([
      [0, 19],
      [5, 19],
      [5, 19],
    ]);
  });

  it("expands braces up to a bound, and says then that the word is something else", () => {
    expect(commandOf(`echo ${"{a,b}".repeat(6)}`).words).toHaveLength(65);
    expect(commandOf(`echo ${"{a,b}".repeat(7)}`).words).toHaveLength(2);
    expect(commandOf(`echo ${`${"{a,b}".repeat(6)} `.repeat(9)}`).words).toHaveLength(
      1 + 8 * 64 + 1,
    );
  });
});

describe("parseShell() of nodes", () => {
  it.each([
    ["a; b", { type: "sequence", operators: [";"] }],
    ["a && b || c", { type: "sequence", operators: ["&&", "||"] }],
    ["a | b", { type: "pipeline", mergesErrors: false }],
    ["a |& b", { type: "pipeline", mergesErrors: true }],
    ["! a", { type: "prefixed", prefix: "!" }],
    ["time a", { type: "prefixed", prefix: "time" }],
    ["(a)", { type: "group", kind: "subshell" }],
    ["{ a; }", { type: "group", kind: "braces" }],
    ["{ a; } > f", { type: "redirected", redirects: [{ operator: ">", target: { text: "f" } }] }],
    ["if a; then b; fi", { type: "if", parts: [{}, {}] }],
    ["until a; do b; done", { type: "while" }],
    ["for x in a b; do c; done", { type: "for", name: "x", words: [{ text: "a" }, { text: "b" }] }],
    [
      "case a in b|c) d;; esac",
      { type: "case", patterns: [{ text: "b" }, { text: "c" }], bodies: [{}] },
    ],
    [
      "[[ -f a && b == c ]]",
      { type: "test", comparisons: [{ operator: "-f" }, { operator: "==" }] },
    ],
    [
      "[[ a =~ ^(b|c)$ ]]",
      { type: "test", comparisons: [{ words: [{ text: "a" }, { text: "^(b|c)$" }] }] },
    ],
    ["a &", { type: "group", kind: "background", body: { type: "command" } }],
    ["f() { a; }", { type: "refused", construct: "function", name: "f" }],
    ["coproc a", { type: "refused", construct: "coproc" }],
    ["select x in a; do b; done", { type: "refused", construct: "select", words: [{ text: "a" }] }],
    ["((a))", { type: "refused", construct: "arithmetic" }],
    ["for ((;;)); do a; done", { type: "refused", construct: "arithmetic-for" }],
  ])("reads %s", (text, node) => expect(nodeOf(text)).toMatchObject(node));

  it.each([
    [
      "a=b c",
      { assignments: [{ name: "a", isPlain: true, value: { text: "b" } }], words: [{ text: "c" }] },
    ],
    ["a+=b", { assignments: [{ name: "a", isPlain: false }] }],
    ["a[1]=b", { assignments: [{ name: "a", isPlain: false, others: [{ text: "1" }] }] }],
    [
      "a=(b c)",
      { assignments: [{ name: "a", isPlain: false, others: [{ text: "b" }, { text: "c" }] }] },
    ],
    ["export a=b", { words: [{ text: "export" }, { text: "a=b" }] }],
    ["a 2>&1", { redirects: [{ operator: ">&", descriptor: 2, target: { text: "1" } }] }],
    ["a {x}>f", { redirects: [{ operator: ">", descriptorName: "x" }] }],
    ["a <<<'b c'", { redirects: [{ operator: "<<<", target: { text: "b c" } }] }],
    ["a <<'E'\n$x \\y\nE", { redirects: [{ operator: "<<", body: { text: "$x \\y\n" } }] }],
    ["a <<E\n\\$x \\y \\\\\nE", { redirects: [{ operator: "<<", body: { text: "$x \\y \\\n" } }] }],
    ["a <<-E\n\tb\n\t\tc\n\tE", { redirects: [{ operator: "<<-", body: { text: "b\nc\n" } }] }],
  ])("reads %s", (text, command) => expect(commandOf(text)).toMatchObject(command));
});

describe("parseShell() within its limits", () => {
  it("refuses one level and one command too many", () => {
    const nested = (levels: number): string =>
      "(".repeat(levels).replaceAll("(", "( ") + "a" + " )".repeat(levels);
    expect(refusalOf(nested(31))).toBeUndefined();
    expect(refusalOf(nested(32))).toBe("shell.too-deep");
    expect(refusalOf("! ".repeat(33) + "a")).toBe("shell.too-deep");
    expect(refusalOf("a;".repeat(200))).toBeUndefined();
    expect(refusalOf("a;".repeat(201))).toBe("shell.too-many-commands");
    expect(refusalOf("a; b; c", { ...SAFETY_LIMITS, commandsMax: 2 })).toBe(
      "shell.too-many-commands",
    );
  });

  it("refuses a mistake at any level, and shows what can be read of the rest", () => {
    for (const text of [
      "a\n)",
      "a $(b ;;)",
      'a "${x:-$(b ;;)}"',
      "a `b ;;`",
      "a <<E\n$(b ;;)\nE",
      "a $((x[$(b ;;)]))",
    ]) {
      const parsed = parseShell(text, SAFETY_LIMITS);
      expect(parsed).toMatchObject({
        refused: { ruleId: "shell.unparsable", layer: "shell-syntax" },
      });
      const programs: (string | undefined)[] = [];
      if ("partial" in parsed && parsed.partial !== undefined)
        visitCommands(parsed.partial, ({ words }) => void programs.push(words[0]?.text));
      expect(programs).toContain("a");
    }
  });

  it.each([
    "$(b",
    "$(b $(c)",
    "$(b $(c\n) d",
    "`b",
    "`b \\`c`",
    "${b",
    "${b:-c",
    "${b:-$(c}",
    "$((1",
    "$((1)",
    "$[1",
    "$(b `c`",
    '"$(b"',
  ])("refuses %j that a here-document leaves open", (open) => {
    const parsed = parseShell(`cat <<E\na ${open}\nE\n`, SAFETY_LIMITS);
    const isOther = "script" in parsed && JSON.stringify(parsed.script).includes('"other"');
    expect(isOther || refusalOf(`cat <<E\na ${open}\nE\n`) === "shell.unparsable").toBe(true);
  });

  it("never throws, whatever the text", () => {
    const noise = [
      "$(",
      "${",
      "`",
      "'",
      '"',
      "\\",
      "\n",
      " ",
      "{",
      "}",
      "(",
      ")",
      "<<E\n",
      "\nE\n",
      "a",
      "=",
      ";",
      "|",
      "[[",
      "]]",
      "if ",
      "case ",
      "!",
      ",",
      "#",
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...noise), { maxLength: 400 }), (parts) => {
        const parsed = parseShell(parts.join(""), SAFETY_LIMITS);
        expect("script" in parsed || parsed.refused.level === "needs-review").toBe(true);
      }),
    );
  });
});

/**
 * What holds of evaluateCommandSafety() for every command: shown on the corpus, wrapped, quoted and
 * joined in every way bash knows.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { someInLane } from "../../../tools/deep.js";
import { evaluateCommandSafety } from "../src/index.js";
import { corpus } from "./corpus-kit.js";

const levelOf = (command: string): string => evaluateCommandSafety(command).riskLevel;
const levels: ReadonlyMap<string, string> = new Map(
  corpus.map(({ command }) => [command, levelOf(command)]),
);
const all: readonly string[] = corpus.map(({ command }) => command);
const safe: readonly string[] = all.filter((command) => levels.get(command) === "safe");
/**
 * Behind a pipe these search what they are fed and no folder, so that what they may show of a
 * folder's secrets is gone.
 */
const isSearchOfFolder = (command: string): boolean =>
  /^rg (?:-A2 -B2 foo|-F 'a\.b')$/.test(command);
/**
 * Not safe because of where it goes, which a shell of its own forgets: `echo x | cd src && git log`
 * runs git where it was.
 */
const goesElsewhere = (command: string): boolean => /^cd \w+ && git /.test(command);
const unsafe: readonly string[] = all.filter(
  (command) =>
    levels.get(command) !== "safe" &&
    command.length < 2_000 &&
    !isSearchOfFolder(command) &&
    !goesElsewhere(command),
);
/** Words of plain characters only: what a quote does to them is known. */
const isPlain = (command: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9 ._/=:,@+-]*$/.test(command);
const plain: readonly string[] = unsafe.filter(isPlain);
const from = (commands: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...commands);

/** Every way to have bash run a command from inside another text. */
const wrappings: Readonly<Record<string, (command: string) => string>> = {
  "after &&": (c) => `ls && ${c}`,
  "after ;": (c) => `pwd; ${c}`,
  "after ||": (c) => `true || ${c}`,
  "after |": (c) => `echo x | ${c}`,
  "after a newline": (c) => `ls\n${c}`,
  "after a comment": (c) => `ls # list\n${c}`,
  "before ;": (c) => `${c}\nls`,
  negated: (c) => `! ${c}`,
  "in a subshell": (c) => `(${c}\n)`,
  "in a group": (c) => `{ ${c}\n}`,
  "in the background": (c) => `${c}\n sleep 1 &`,
  "as a condition": (c) => `if ${c}\nthen ls; fi`,
  "as a branch": (c) => `if true; then ls; else ${c}\nfi`,
  "as a loop's condition": (c) => `while ${c}\ndo break; done`,
  "in for": (c) => `for q in 1 2; do ${c}\ndone`,
  "in until": (c) => `until false; do ${c}\ndone`,
  "in case": (c) => `case x in x) ${c}\n;; esac`,
  "in $( )": (c) => `echo $(${c}\n)`,
  "in quoted $( )": (c) => `echo "a $(${c}\n) b"`,
  "in a default": (c) => `echo "\${v:-$(${c}\n)}"`,
  "in an alternative": (c) => `echo \${v:+$(${c}\n)}`,
  "in a pattern": (c) => `echo "\${v%$(${c}\n)}"`,
  "in <( )": (c) => `cat <(${c}\n)`,
  "in >( )": (c) => `ls > >(${c}\n)`,
  "in an assignment": (c) => `v=$(${c}\n); echo "$v"`,
  "in an assignment before a program": (c) => `LC_ALL=$(${c}\n) ls`,
  "in an array": (c) => `a=(x $(${c}\n))`,
  "in an array with text after it": (c) => `a=( $(${c}\n) )x`,
  "in a subscript": (c) => `echo "\${a[$(${c}\n)]}"`,
  "in arithmetic": (c) => `echo $(( 1 + $(${c}\n) ))`,
  "in [[ ]]": (c) => `[[ -n $(${c}\n) ]]`,
  "in [ ]": (c) => `[ -n "$(${c}\n)" ]`,
  "in a heredoc": (c) => `cat <<HERE\na $(${c}\n) b\nHERE`,
  "in a heredoc's default": (c) => `cat <<HERE\n\${v:-'$(${c}\n)'}\nHERE`,
  "in a here string": (c) => `cat <<< "$(${c}\n)"`,
  "in a redirect": (c) => `ls < <(${c}\n)`,
  "as the program": (c) => `$(${c}\n)`,
  "in the words of for": (c) => `for q in $(${c}\n); do echo "$q"; done`,
  "in the word of case": (c) => `case $(${c}\n) in *) ls;; esac`,
  "in a function": (c) => `f() { ${c}\n}; f`,
  "in a function never called": (c) => `f() { ${c}\n}`,
  "in coproc": (c) => `coproc { ${c}\n}`,
  "fed to a shell": (c) => `bash <<'HERE'\n${c}\nHERE`,
};

/** What takes one simple command as its arguments. */
const launchers: readonly string[] = [
  "time",
  "env",
  "env LC_ALL=C",
  "timeout 5",
  "timeout -k 1 5s",
  "nice",
  "nice -n 5",
  "nohup",
  "command",
  "exec",
  "builtin",
  "eval",
  "xargs",
  "xargs -0 -n 1",
  "stdbuf -o0",
  "setsid",
  "sudo",
];

/** A word of plain characters, said in another way that bash reads the same. */
const spellings: readonly ((word: string) => string)[] = [
  (word) => `'${word}'`,
  (word) => `"${word}"`,
  (word) => `\\${word}`,
  (word) => `${word.slice(0, 1)}''${word.slice(1)}`,
  (word) => `${word.slice(0, 1)}"${word.slice(1)}"`,
  (word) => `${word.slice(0, -1)}\\${word.slice(-1)}`,
  (word) => [...word].map((character) => `\\${character}`).join(""),
  (word) => `${word.slice(0, 1)}\\\n${word.slice(1)}`,
  (word) =>
    `$'${[...word].map((character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`).join("")}'`,
  (word) =>
    `$'${[...word].map((character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`).join("")}'`,
  (word) => `$'\\u${word.charCodeAt(0).toString(16).padStart(4, "0")}'${word.slice(1)}`,
  (word) => `$"${word}"`,
  (word) => `""${word}`,
];
const gaps: readonly string[] = [" ", "  ", "\t", " \\\n", "\\\n "];

describe("a command that is not safe", () => {
  it.each(Object.entries(wrappings))("is not safe %s", (name, wrap) => {
    const tried = someInLane(unsafe, Object.keys(wrappings).indexOf(name));
    const approved = tried.map(wrap).filter((command) => levelOf(command) === "safe");
    expect(approved).toEqual([]);
  });

  it.each(launchers)("is not safe behind %s", (launcher) => {
    const approved = someInLane(plain, launchers.indexOf(launcher))
      .map((command) => `${launcher} ${command}`)
      .filter((command) => levelOf(command) === "safe");
    expect(approved).toEqual([]);
  });

  it("is not safe in any two wrappings at once", () => {
    const wrapping = fc.constantFrom(...Object.keys(wrappings));
    fc.assert(
      fc.property(
        from(unsafe),
        fc.array(wrapping, { minLength: 2, maxLength: 5 }),
        (command, names) => {
          expect(
            levelOf(names.reduce((text, name) => wrappings[name]?.(text) ?? text, command)),
          ).not.toBe("safe");
        },
      ),
      { numRuns: 500 },
    );
  });

  it("is not safe however its words are quoted", () => {
    const spelling = fc.tuple(fc.option(fc.constantFrom(...spellings)), fc.constantFrom(...gaps));
    fc.assert(
      fc.property(from(plain), fc.infiniteStream(spelling), (command, choices) => {
        const spelt = command.split(" ").map((word) => {
          const [spell, gap] = choices.next().value;
          return `${spell === null || word === "" ? word : spell(word)}${gap}`;
        });
        expect(levelOf(spelt.join(""))).not.toBe("safe");
      }),
      { numRuns: 3_000 },
    );
  });

  it("is not safe inside sh -c", () => {
    for (const [at, shell] of ["sh -c", "bash -c", "bash -lc", "eval"].entries()) {
      const approved = someInLane(unsafe, at).map(
        (command) => `${shell} '${command.replaceAll("'", String.raw`'\''`)}'`,
      );
      expect(approved.filter((command) => levelOf(command) === "safe")).toEqual([]);
    }
  });
});

describe("what is dangerous", () => {
  /**
   * Not after a text that names files: a heredoc or a comment at the end would take what follows.
   */
  const dangerous = all.filter(
    (command) => levels.get(command) === "dangerous" && !/[#\n]|<</.test(command),
  );
  const kept = [
    "after &&",
    "after ;",
    "after a newline",
    "in a subshell",
    "in a group",
    "as a condition",
    "in for",
    "in case",
    "in $( )",
  ];

  it.each(kept)("stays dangerous %s", (name) => {
    const less = someInLane(dangerous, kept.indexOf(name))
      .map((command) => wrappings[name]?.(command) ?? "")
      .filter((command) => levelOf(command) !== "dangerous");
    expect(less).toEqual([]);
  });
});

describe("commands that are safe", () => {
  /**
   * A directory that changed, or a comment, a heredoc or an open line at the end, changes what
   * comes after; `((` would be arithmetic.
   */
  const leavesNothing = (command: string): boolean =>
    !/\b(cd|pushd|popd)\b|#|<<|\n|^\(/.test(command);
  /**
   * Only a command without these words can stand behind `|`; what feeds xargs is all that stands
   * before it.
   */
  const pipes = (command: string): boolean =>
    leavesNothing(command) && !/^(!|time)(\s|$)|\bxargs\b/.test(command);
  const joins: readonly string[] = [" && ", "; ", " || ", "\n"];

  it("stay safe one after the other", () => {
    const first = from(safe.filter(leavesNothing));
    fc.assert(
      fc.property(first, fc.constantFrom(...joins), from(safe), (a, join, b) => {
        // `a || cd b && cd ..`: where a succeeds, only the second cd runs.
        fc.pre(join !== " || " || leavesNothing(b));
        const joined = `${a}${join}${b}`;
        expect(evaluateCommandSafety(joined)).toMatchObject({ riskLevel: "safe", reasons: [] });
      }),
      { numRuns: 3_000 },
    );
  });

  it("stay safe in a pipe", () => {
    const part = from(safe.filter(pipes));
    fc.assert(
      fc.property(part, part, (a, b) => {
        expect(evaluateCommandSafety(`${a} | ${b}`)).toMatchObject({
          riskLevel: "safe",
          reasons: [],
        });
      }),
      { numRuns: 2_000 },
    );
  });

  it("stay safe in a subshell, in a group, as a condition and in a substitution", () => {
    const wraps = ["in a subshell", "in a group", "as a condition", "in for", "in quoted $( )"];
    for (const [at, name] of wraps.entries()) {
      const asked = someInLane(safe.filter(leavesNothing), at).map(
        (command) => wrappings[name]?.(command) ?? "",
      );
      expect(asked.filter((command) => levelOf(command) !== "safe")).toEqual([]);
    }
  });

  it("are not safe with the program's name in capitals", () => {
    const named = safe.filter(
      (command) =>
        /^[a-z][a-z0-9]*( |$)/.test(command) && !/^(if|for|while|until|case|time) /.test(command),
    );
    expect(named.length).toBeGreaterThan(200);
    const shout = (command: string): string =>
      command.replace(/^[a-z0-9]+/, (name) => name.toUpperCase());
    const start = (command: string): string =>
      `${command.slice(0, 1).toUpperCase()}${command.slice(1)}`;
    expect(
      named
        .flatMap((command) => [shout(command), start(command)])
        .filter((command) => levelOf(command) === "safe"),
    ).toEqual([]);
  });

  it("are not safe with one letter of the program from another script", () => {
    const lookalikes: Readonly<Record<string, string>> = {
      a: "\u0430",
      c: "\u0441",
      e: "\u0435",
      o: "\u043e",
      p: "\u0440",
      s: "\u0455",
    };
    const alike = safe
      .map((command) =>
        command.replace(
          /^[a-z]*?[aceops]/,
          (name) => `${name.slice(0, -1)}${lookalikes[name.slice(-1)] ?? ""}`,
        ),
      )
      .filter((command) => /[\u0400-\u04ff]/.test(command));
    expect(alike.length).toBeGreaterThan(200);
    expect(alike.filter((command) => levelOf(command) === "safe")).toEqual([]);
  });
});

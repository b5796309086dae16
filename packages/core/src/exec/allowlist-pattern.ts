/**
 * Patterns of an allowlist: words separated by blanks, each held against one argument of one parsed
 * simple command. `*` is any text within one argument, `?` one character, `**` as the last word any
 * number of arguments. Format: spec/exec-config.md §3.
 */
import { hasWildcard } from "../policy/glob.js";
import type { TextTest } from "../policy/glob.js";
import { readingsOf } from "../policy/readings.js";
import { compileStance } from "../policy/stance.js";

/** A compiled pattern. */
export interface AllowlistPattern {
  readonly program: string;
  /** Whether the arguments behind the program match. */
  readonly takes: (argv: readonly string[]) => boolean;
}

/** Why a text is no pattern, for "Cannot load …: <problem>". */
export interface PatternProblem {
  readonly problem: string;
  readonly suggestion?: string;
}

const ANY_ARGUMENTS = "**";
const BLANKS = /[ \t]+/;
const QUOTES = /["'`\\]/;
// A redirection or an operator between commands, as a word of its own.
const OPERATOR = /^(?:[;&|]+|\d*[<>].*)$/;

/** Compiles a pattern; linear in its length, as its test is in the arguments. */
export function compileAllowlistPattern(pattern: string): AllowlistPattern | PatternProblem {
  const words = pattern.split(BLANKS);
  const problem = problemOf(pattern, words);
  if (problem !== undefined) return problem;
  const takesMore = words.at(-1) === ANY_ARGUMENTS;
  const [program = "", ...rest] = takesMore ? words.slice(0, -1) : words;
  const tests = rest.map(testOf);
  return {
    program,
    takes: (argv) => {
      const count = argv.length - 1;
      if (takesMore ? count < tests.length : count !== tests.length) return false;
      return tests.every((test, index) => test(argv[index + 1] ?? ""));
    },
  };
}

function testOf(word: string): TextTest {
  return compileStance(word, { grants: true, read: readingsOf });
}

function problemOf(pattern: string, words: readonly string[]): PatternProblem | undefined {
  const [program = ""] = words;
  if (pattern.includes("\n")) return { problem: "a pattern is one line" };
  if (words.includes(""))
    return { problem: "the pattern begins or ends with a blank", suggestion: pattern.trim() };
  if (QUOTES.test(pattern))
    return {
      problem: "arguments are compared without their quotes, so a quote in a pattern never matches",
    };
  if (hasWildcard(program))
    return { problem: 'the program must be named; every program is allowed by "security": "full"' };
  if (program.includes("="))
    return { problem: "the pattern begins with an assignment, which no entry lifts" };
  const operator = words.find((word) => OPERATOR.test(word));
  if (operator !== undefined)
    return {
      problem: `an entry is about one command, and ${operator} joins commands or redirects one`,
    };
  if (words.slice(0, -1).includes(ANY_ARGUMENTS))
    return { problem: "** stands for the rest of the arguments, so nothing can follow it" };
  return undefined;
}

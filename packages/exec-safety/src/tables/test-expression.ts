/**
 * Test expression: `test …` and `[ … ]`. Every operator has to be known: `-v` and `-R` run what
 * stands in a subscript, and a word that is known only when it runs may become one of them.
 */
import { textOf } from "../safe/argument.js";
import type { Argument, ProgramCall } from "../safe/argument.js";
import { say } from "./judged-call.js";
import type { JudgedCall } from "./judged-call.js";
import type { Why } from "./table.js";

const UNARY = /^-[bcdefghknprstuwxzGLNOS]$/;
const COMPARES_TEXT: ReadonlySet<string> = new Set([
  "=",
  "==",
  "!=",
  "<",
  ">",
  "-nt",
  "-ot",
  "-ef",
]);
const COMPARES_NUMBERS: ReadonlySet<string> = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);
const INTEGER = /^\s*[-+]?\d+\s*$/;
const RUNS: Why = {
  topic: "exec",
  text: "may run what stands in a subscript: `-v`, `-R`, or a comparison of what is no number",
};
const STRANGE: Why = { topic: "read", text: "is a test beyond what is known to have no effect" };

/** Reports what of a test is not known to be without effect. */
export function judgeTestCommand({ program, args }: ProgramCall, of: JudgedCall): void {
  const words = program === "[" ? args.slice(0, -1) : args;
  if (program === "[" && textOf(args.at(-1)) !== "]") return say(of, STRANGE, of);
  const why = problemOf(words);
  if (why !== undefined) say(of, why, of);
}

function problemOf(words: readonly Argument[]): Why | undefined {
  let index = 0;
  let depth = 0;
  while (index < words.length) {
    while (textOf(words[index]) === "!" && index + 1 < words.length) index += 1;
    if (textOf(words[index]) === "(" && words.length > index + 2) {
      depth += 1;
      index += 1;
      continue;
    }
    const length = lengthOfTerm(words, index);
    if (typeof length !== "number") return length;
    index += length;
    while (depth > 0 && textOf(words[index]) === ")") {
      depth -= 1;
      index += 1;
    }
    if (index === words.length) return depth === 0 ? undefined : STRANGE;
    const joint = textOf(words[index]);
    if (joint !== "-a" && joint !== "-o") return STRANGE;
    index += 1;
    if (index === words.length) return STRANGE;
  }
  return undefined;
}

/** How many words the term at `index` has. */
function lengthOfTerm(words: readonly Argument[], index: number): number | Why {
  const [first, second, third] = words.slice(index, index + 3);
  if (
    first === undefined ||
    [first, second, third].some((word) => word !== undefined && !isOneWord(word))
  )
    return STRANGE;
  const operator = textOf(second);
  if (third !== undefined && operator !== undefined) {
    if (COMPARES_TEXT.has(operator)) return 3;
    if (COMPARES_NUMBERS.has(operator)) return [first, third].every(mayBeNumber) ? 3 : RUNS;
  }
  const word = textOf(first);
  if (word === "-v" || word === "-R") return second === undefined ? 1 : RUNS;
  if (
    word !== undefined &&
    UNARY.test(word) &&
    second !== undefined &&
    operator !== "-a" &&
    operator !== "-o" &&
    operator !== ")"
  )
    return 2;
  // A word alone is true where it has letters. What is not known may be an operator, unless nothing
  // stands behind it.
  return word !== undefined || second === undefined ? 1 : STRANGE;
}

/** A word that stays one. Several files in place of a glob would make other words the operators. */
function isOneWord({ isOne, isQuoted, values }: Argument): boolean {
  return isOne && (isQuoted === true || values?.some(({ isGlob }) => isGlob) !== true);
}

function mayBeNumber({ values }: Argument): boolean {
  return values === undefined || values.every(({ text }) => INTEGER.test(text));
}

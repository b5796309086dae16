/**
 * Sed: whether a script of sed only prints. A whitelist: what is not understood is reviewed, since
 * `e` runs programs and `w` writes files.
 */
import type { Why } from "../table.js";

const EXEC: Why = { topic: "exec", text: "runs a program: the `e` command or flag of sed" };
const WRITE: Why = { topic: "write", text: "writes a file: the `w` command or flag of sed" };
const READ: Why = { topic: "read", text: "reads another file: the `r` command of sed" };
const STRANGE: Why = {
  topic: "unknown",
  text: "is a sed script beyond what is known to only print",
};

/** `[start, end]` of what a step read, or why the script is reviewed. */
type Step = number | Why;

/** Why a script is reviewed; nothing where it only prints. */
export function sedProblem(script: string): Why | undefined {
  // Before a comma an address is missing, as where a number that was looked for is not found: no
  // sed runs that, whatever is behind it.
  if (script.startsWith(",")) return sedProblem(`1${script}`);
  let index = 0;
  let depth = 0;
  while (index < script.length) {
    const letter = script.charAt(index);
    if (/[\s;]/.test(letter)) index += 1;
    else if (letter === "#") index = lineEnd(script, index);
    else if (letter === "}") {
      depth -= 1;
      index += 1;
      if (depth < 0) return STRANGE;
    } else {
      const start = skipAddresses(script, index);
      if (typeof start !== "number") return start;
      if (script.charAt(start) === "{") {
        depth += 1;
        index = start + 1;
      } else {
        const end = skipCommand(script, start);
        if (typeof end !== "number") return end;
        index = end;
      }
    }
  }
  return depth === 0 ? undefined : STRANGE;
}

function skipAddresses(script: string, from: number): Step {
  let index = skipAddress(script, from);
  if (typeof index !== "number") return index;
  if (index !== from) {
    index = skipBlanks(script, index);
    if (script.charAt(index) === ",") {
      const second = skipBlanks(script, index + 1);
      index = /[+~]/.test(script.charAt(second))
        ? skipDigits(script, second + 1)
        : skipAddress(script, second);
      if (typeof index !== "number" || index === second) return STRANGE;
    }
  }
  index = skipBlanks(script, index);
  while (script.charAt(index) === "!") index = skipBlanks(script, index + 1);
  return index;
}

/** `5`, `$`, `1~2`, `/re/I`, `\,re,`. Stays where there is none. */
function skipAddress(script: string, from: number): Step {
  const letter = script.charAt(from);
  if (letter === "$") return from + 1;
  if (/\d/.test(letter)) {
    const end = skipDigits(script, from);
    return script.charAt(end) === "~" ? skipDigits(script, end + 1) : end;
  }
  if (letter !== "/" && letter !== "\\") return from;
  let end = skipDelimited(script, letter === "/" ? from : from + 1, true);
  if (typeof end !== "number") return end;
  while (/[IM]/.test(script.charAt(end))) end += 1;
  return end;
}

function skipCommand(script: string, from: number): Step {
  const letter = script.charAt(from);
  if (/[pPdDgGhHxnNzF=]/.test(letter)) return ended(script, from + 1);
  if (/[qQlL]/.test(letter)) return ended(script, skipDigits(script, skipBlanks(script, from + 1)));
  if (letter === "s") return skipSubstitution(script, from + 1);
  if (letter === "y") return skipTwo(script, from + 1);
  if (/[aic]/.test(letter)) return skipText(script, from + 1);
  if (/[:btT]/.test(letter)) return ended(script, skipLabel(script, skipBlanks(script, from + 1)));
  if (letter === "e") return EXEC;
  if (letter === "w" || letter === "W") return WRITE;
  if (letter === "r" || letter === "R") return READ;
  return STRANGE;
}

function skipSubstitution(script: string, from: number): Step {
  const middle = skipDelimited(script, from, true);
  if (typeof middle !== "number") return middle;
  let index = skipDelimited(script, middle - 1, false);
  if (typeof index !== "number") return index;
  while (/[gpIiMm0-9]/.test(script.charAt(index))) index += 1;
  if (script.charAt(index) === "e") return EXEC;
  if (script.charAt(index) === "w") return WRITE;
  return ended(script, index);
}

function skipTwo(script: string, from: number): Step {
  const middle = skipDelimited(script, from, false);
  if (typeof middle !== "number") return middle;
  const end = skipDelimited(script, middle - 1, false);
  return typeof end === "number" ? ended(script, end) : end;
}

/**
 * From a delimiter to behind the next one. Versions of sed differ on a delimiter inside brackets,
 * so that is not understood.
 */
function skipDelimited(script: string, from: number, isPattern: boolean): Step {
  const delimiter = script.charAt(from);
  if (!/^[!-~]$/.test(delimiter) || /[A-Za-z0-9\\;{}]/.test(delimiter)) return STRANGE;
  let inBrackets = false;
  for (let index = from + 1; index < script.length; index += 1) {
    const letter = script.charAt(index);
    if (letter === "\n") return STRANGE;
    if (letter === "\\") index += 1;
    else if (letter === delimiter) return inBrackets ? STRANGE : index + 1;
    else if (isPattern && letter === "[" && !inBrackets) {
      inBrackets = true;
      // A bracket that comes first is a letter.
      if (script.charAt(index + 1) === "^") index += 1;
      if (script.charAt(index + 1) === "]") index += 1;
    } else if (letter === "]") inBrackets = false;
  }
  return STRANGE;
}

/** Text of `a`, `i`, `c`: to the end of the line, and on where that ends with a backslash. */
function skipText(script: string, from: number): number {
  let index = from;
  while (index < script.length && script.charAt(index) !== "\n")
    index += script.charAt(index) === "\\" ? 2 : 1;
  return Math.min(index, script.length);
}

function ended(script: string, from: number): Step {
  const index = skipBlanks(script, from);
  const letter = script.charAt(index);
  return letter === "" || /[;\n}#]/.test(letter) ? index : STRANGE;
}

function skipBlanks(script: string, from: number): number {
  let index = from;
  while (script.charAt(index) === " " || script.charAt(index) === "\t") index += 1;
  return index;
}

function skipDigits(script: string, from: number): number {
  let index = from;
  while (/\d/.test(script.charAt(index))) index += 1;
  return index;
}

function skipLabel(script: string, from: number): number {
  let index = from;
  while (/[\w.-]/.test(script.charAt(index))) index += 1;
  return index;
}

function lineEnd(script: string, from: number): number {
  const end = script.indexOf("\n", from);
  return end < 0 ? script.length : end;
}

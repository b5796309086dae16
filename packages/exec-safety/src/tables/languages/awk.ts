/**
 * Awk: whether a program of awk only computes and prints. Read token by token; what is not
 * understood is reviewed, since awk runs programs (`system`, `|`), writes files (`print > …`) and
 * reads any file (`getline`, `ARGV`).
 */
import type { Why } from "../table.js";

const EXEC: Why = {
  topic: "exec",
  text: "can run a program: `system`, a pipe or an extension in awk",
};
const WRITE: Why = { topic: "write", text: "writes a file: `print >` in awk" };
const READ: Why = { topic: "read", text: "reads another file or the environment from awk" };
const STRANGE: Why = {
  topic: "unknown",
  text: "is an awk program beyond what is known to only print",
};

const RUNS: ReadonlySet<string> = new Set([
  "system",
  "close",
  "fflush",
  "extension",
  "function",
  "func",
  "eval",
  "switch",
  "case",
  "default",
]);
const READS: ReadonlySet<string> = new Set([
  "getline",
  "ENVIRON",
  "PROCINFO",
  "ARGV",
  "ARGC",
  "ARGIND",
  "SYMTAB",
  "FUNCTAB",
]);
const FUNCTIONS: ReadonlySet<string> = new Set(
  "length substr index split patsplit sub gsub gensub match sprintf tolower toupper sin cos atan2 exp log sqrt int rand srand strftime systime mktime strtonum asort asorti and or xor compl lshift rshift typeof isarray".split(
    " ",
  ),
);
const KEYWORDS: ReadonlySet<string> = new Set(
  "BEGIN END BEGINFILE ENDFILE if else for while do break continue next nextfile exit delete in print printf".split(
    " ",
  ),
);
/**
 * A `/` behind one of these begins a pattern; behind an operand it divides; behind anything else it
 * is not understood.
 */
const BEFORE_PATTERN: ReadonlySet<string> = new Set([
  "start",
  "line",
  ";",
  "{",
  "}",
  "(",
  ",",
  "!",
  "~",
  "!~",
  "&&",
  "||",
  "?",
  ":",
  "=",
  "==",
  "!=",
  "print",
  "printf",
  "control)",
]);
const BEFORE_DIVISION: ReadonlySet<string> = new Set(["name", "number", ")", "]"]);
/**
 * Behind one of these a line end does not end the statement, so that `print a,` may have its `>
 * file` on the next line.
 */
const CONTINUES: ReadonlySet<string> = new Set([",", "{", "&&", "||", "?", ":", "do", "else"]);
const OPERATOR =
  /\*\*=|\|&|&&|\|\||\+\+|--|\+=|-=|\*=|\/=|%=|\^=|\*\*|==|!=|<=|>=|>>|!~|[-+*%^!<>=~?:;,(){}[\]$|]/y;
const NAME = /[A-Za-z_]\w*/y;
const NUMBER = /0[xX][\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/y;

interface Reading {
  readonly program: string;
  index: number;
  /**
   * The token before: an operator, a keyword, or `name`, `number`, `text`, `line`, `start`,
   * `control)`.
   */
  before: string;
  /** For every open parenthesis whether it belongs to `if`, `while` or `for`. */
  readonly open: boolean[];
  /** Open parentheses where `print` stands; undefined outside of it. */
  printDepth: number | undefined;
}

/** Why a program is reviewed; nothing where it only computes and prints. */
export function awkProblem(program: string): Why | undefined {
  const reading: Reading = { program, index: 0, before: "start", open: [], printDepth: undefined };
  while (reading.index < program.length) {
    const why = readToken(reading);
    if (why !== undefined) return why;
  }
  return undefined;
}

function readToken(reading: Reading): Why | undefined {
  const letter = reading.program.charAt(reading.index);
  if (letter === " " || letter === "\t") {
    reading.index += 1;
    return undefined;
  }
  if (letter === "\n")
    return step(
      reading,
      reading.index + 1,
      CONTINUES.has(reading.before) ? reading.before : "line",
    );
  if (letter === "#") {
    const end = reading.program.indexOf("\n", reading.index);
    reading.index = end < 0 ? reading.program.length : end;
    return undefined;
  }
  if (letter === '"') return readDelimited(reading, '"', "text");
  if (letter === "/") return readSlash(reading);
  const number = matchAt(NUMBER, reading);
  if (number !== undefined) return step(reading, reading.index + number.length, "number");
  const name = matchAt(NAME, reading);
  if (name !== undefined) return readName(reading, name);
  if (letter === "@") return EXEC;
  const operator = matchAt(OPERATOR, reading);
  return operator === undefined ? STRANGE : readOperator(reading, operator);
}

function readName(reading: Reading, name: string): Why | undefined {
  if (RUNS.has(name)) return EXEC;
  if (READS.has(name)) return READ;
  const end = reading.index + name.length;
  if (KEYWORDS.has(name)) {
    if (name === "print" || name === "printf") reading.printDepth = reading.open.length;
    return step(reading, end, name);
  }
  // A call. Where the name is none of a function, only an extension's or a library's can be meant.
  if (FUNCTIONS.has(name)) return step(reading, end, "function");
  return reading.program.charAt(end) === "(" ? STRANGE : step(reading, end, "name");
}

function readSlash(reading: Reading): Why | undefined {
  if (BEFORE_PATTERN.has(reading.before)) return readDelimited(reading, "/", "text");
  if (!BEFORE_DIVISION.has(reading.before)) return STRANGE;
  return step(
    reading,
    reading.index + (reading.program.charAt(reading.index + 1) === "=" ? 2 : 1),
    "/",
  );
}

/**
 * A text or a pattern. Versions of awk differ on a slash inside brackets, so that is not
 * understood.
 */
function readDelimited(reading: Reading, delimiter: string, token: string): Why | undefined {
  const { program } = reading;
  let inBrackets = false;
  for (let index = reading.index + 1; index < program.length; index += 1) {
    const letter = program.charAt(index);
    if (letter === "\n") return STRANGE;
    if (letter === "\\") index += 1;
    else if (letter === delimiter) return inBrackets ? STRANGE : step(reading, index + 1, token);
    else if (delimiter === "/" && letter === "[" && !inBrackets) {
      inBrackets = true;
      if (program.charAt(index + 1) === "^") index += 1;
      if (program.charAt(index + 1) === "]") index += 1;
    } else if (delimiter === "/" && letter === "]") inBrackets = false;
  }
  return STRANGE;
}

function readOperator(reading: Reading, operator: string): Why | undefined {
  if (operator === "|" || operator === "|&") return EXEC;
  if (
    reading.printDepth !== undefined &&
    (operator === ">" || operator === ">>") &&
    reading.open.length <= reading.printDepth
  )
    return WRITE;
  if (operator === ">>") return WRITE;
  let token = operator;
  if (operator === "(")
    reading.open.push(
      reading.before === "if" || reading.before === "while" || reading.before === "for",
    );
  else if (operator === ")") token = reading.open.pop() === true ? "control)" : ")";
  return step(reading, reading.index + operator.length, token);
}

/** Goes on behind a token. The end of a statement ends `print`, except inside parentheses. */
function step(reading: Reading, index: number, token: string): undefined {
  if (token === ";" || token === "}" || token === "line" || token === "{")
    reading.printDepth = undefined;
  reading.index = index;
  reading.before = token;
  return undefined;
}

function matchAt(pattern: RegExp, reading: Reading): string | undefined {
  pattern.lastIndex = reading.index;
  return pattern.exec(reading.program)?.[0];
}

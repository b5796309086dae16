/**
 * Resolve arguments: words of a command as what its program can get, as far as that is known before
 * the command runs.
 *
 * In a value's text the home directory stands as `~` (at the start, or behind `=` `:` `,`), the
 * current directory (`$PWD`) as `.`, and a process substitution as the pipe that the shell makes of
 * it.
 */
import type { Argument, ArgumentValue } from "./argument.js";
import type { Edit } from "../findings.js";
import { printsPlace } from "./names.js";
import { splitWords } from "./torn-names.js";
import type { Piece, Script, Variable, Word } from "../parse/tree.js";
import type { Variables } from "./argument.js";

/** Values of one argument that are followed; beyond it, it counts as not known. */
const VALUES_MAX = 32;
const EMPTY: readonly ArgumentValue[] = [{ text: "", isGlob: false }];
const HOME: readonly ArgumentValue[] = [{ text: "~", isGlob: false }];
const PIPE: readonly ArgumentValue[] = [{ text: "/dev/fd/63", isGlob: false }];

/** What the shell fills with digits, so that it never splits. */
const NUMBERS: ReadonlySet<string> = new Set([
  "?",
  "#",
  "$",
  "!",
  "RANDOM",
  "SECONDS",
  "LINENO",
  "UID",
  "EUID",
  "PPID",
  "SHLVL",
  "EPOCHSECONDS",
]);

/**
 * What a script prints, where that is known to be names of the project's files, or a word that is
 * as harmless.
 */
export type PrintedNames = (script: Script) => readonly ArgumentValue[] | undefined;

/** The words as arguments. */
export function resolveArguments(
  words: readonly Word[],
  variables: Variables,
  printedNames?: PrintedNames,
): readonly Argument[] {
  return words.map((word) => resolveWord(word, variables, { printedNames }));
}

/** How a word is read besides its variables. */
export interface Reading {
  readonly printedNames?: PrintedNames | undefined;
  /** Whether the shell leaves it one word, whatever is in it: the value of an assignment. */
  readonly isKeptWhole?: boolean;
}

/** One word as an argument. */
export function resolveWord(
  word: Word,
  variables: Variables,
  { printedNames, isKeptWhole = false }: Reading = {},
): Argument {
  const { span, raw, text } = word;
  if (text !== undefined)
    return { span, raw, values: [{ text, isGlob: false }], leading: text, isOne: true };
  let values: readonly ArgumentValue[] | undefined = EMPTY;
  let words: readonly ArgumentValue[] | undefined;
  let leading = "";
  let isOne = true;
  for (const piece of word.pieces) {
    const next = valuesOf(piece, { variables, printedNames });
    if (next === undefined && canSplit(piece)) isOne = false;
    if (values === undefined) continue;
    const split =
      next === undefined || isKeptWhole || !splitsNames(piece, variables)
        ? next
        : splitWords(next, quotesFor(word));
    // Letters before and behind what is split belong to its first and its last word alone.
    if (split !== next) words = split;
    const joined: readonly ArgumentValue[] | undefined =
      next === undefined ? undefined : join(values, next, piece);
    if (joined === undefined) leading = commonStart(values);
    values = joined;
  }
  if (values === undefined) return { span, raw, leading, isOne };
  if (words !== undefined) return { span, raw, values: words, leading: "", isOne };
  const found = { span, raw, values, leading: commonStart(values), isOne };
  return isOne && word.pieces.every(isQuoted) ? { ...found, isQuoted: true } : found;
}

/** The edits that put a word in quotes, where it is a variable and no more. */
function quotesFor({ span, raw }: Word): readonly Edit[] | undefined {
  const reason = "quotes a variable, so that a name with blanks stays one";
  return /^\$(?:\w+|\{\w+\})$/.test(raw)
    ? [
        // A blank stands before a word; where something else does, the place is not the one that
        // was meant.
        { at: span.start, behind: " ", text: '"', reason },
        { at: span.end, behind: raw, text: '"', reason },
      ]
    : undefined;
}

const isQuoted = (piece: Piece): boolean =>
  piece.kind === "text" || ("quoted" in piece && piece.quoted);

interface Knowledge {
  readonly variables: Variables;
  readonly printedNames: PrintedNames | undefined;
}

/**
 * What one piece can be; undefined where that is not known, or where it may become several words.
 */
function valuesOf(
  piece: Piece,
  { variables, printedNames }: Knowledge,
): readonly ArgumentValue[] | undefined {
  switch (piece.kind) {
    case "text":
      return [{ text: piece.text, isGlob: false }];
    case "glob":
      return [{ text: piece.text, isGlob: true }];
    case "home":
      return HOME;
    case "variable":
      return piece.operator === undefined ? variableValues(piece, variables) : undefined;
    case "script":
      if (piece.form === "read") return PIPE;
      if (piece.form === "write") return undefined;
      if (isPlace(piece)) return variableValues({ name: "PWD", quoted: piece.quoted }, variables);
      return unlessGone(printedNames?.(piece.script), piece.quoted);
    case "arithmetic":
    case "other":
      return undefined;
    default:
      return piece satisfies never;
  }
}

/** Whether a piece stands for the current directory: `$PWD`, `$(pwd)`. */
export function isPlace(piece: Piece): boolean {
  return piece.kind === "variable"
    ? piece.name === "PWD"
    : piece.kind === "script" && piece.form === "command" && printsPlace(piece.script);
}

/**
 * Unquoted, a value with blanks becomes several words, an empty one none, and one with `*` a glob.
 */
function variableValues(
  { name, quoted }: Pick<Variable, "name" | "quoted">,
  variables: Variables,
): readonly ArgumentValue[] | undefined {
  const values = variables.get(name);
  if (values === undefined || quoted) return values;
  if (values.some(({ text }) => text === "" || /[ \t\n]/.test(text))) return undefined;
  return values.map((value) => ({ ...value, isGlob: value.isGlob || /[*?[]/.test(value.text) }));
}

/** Values that may be nothing are not known where nothing would be no argument. */
function unlessGone(
  values: readonly ArgumentValue[] | undefined,
  quoted: boolean,
): readonly ArgumentValue[] | undefined {
  return quoted || values?.some(({ text }) => text === "") !== true ? values : undefined;
}

/** Whether a piece that is not known may become several words, or none. */
function canSplit(piece: Piece): boolean {
  if (piece.kind === "other") return true;
  if (piece.kind === "script") return !piece.quoted;
  if (piece.kind !== "variable") return false;
  if (
    piece.name === "@" ||
    (piece.name === "*" && !piece.quoted) ||
    piece.operator === "[" ||
    piece.operator === "!"
  )
    return true;
  return (
    !piece.quoted &&
    piece.operator !== "length" &&
    !(piece.operator === undefined && NUMBERS.has(piece.name))
  );
}

/**
 * Whether the shell splits names at their blanks: what a glob finds is not split, but what a
 * variable got from it is.
 */
function splitsNames(piece: Piece, variables: Variables): boolean {
  return (
    canSplit(piece) &&
    (piece.kind !== "variable" || variables.get(piece.name)?.some(({ isGlob }) => isGlob) === true)
  );
}

function join(
  before: readonly ArgumentValue[],
  next: readonly ArgumentValue[],
  { kind }: Piece,
): readonly ArgumentValue[] | undefined {
  if (before.length * next.length > VALUES_MAX) return undefined;
  // INVARIANT: `~` means home only where a path can begin; elsewhere its place in the text would be
  // wrong.
  if (kind === "home" && !before.every(({ text }) => text === "" || /[=:,]$/.test(text)))
    return undefined;
  if (before === EMPTY) return next;
  return before.flatMap((start) =>
    next.map((end): ArgumentValue => {
      const isTorn = start.isTorn ?? end.isTorn;
      return {
        text: start.text + end.text,
        isGlob: start.isGlob || end.isGlob,
        ...(isTorn === true && { isTorn }),
      };
    }),
  );
}

/**
 * The letters that all values begin with; of a glob only what stands before its first special
 * letter.
 */
function commonStart(values: readonly ArgumentValue[]): string {
  const [first, ...others] = values.map(({ text, isGlob }) =>
    isGlob ? text.replace(/[*?[][\s\S]*$/, "") : text,
  );
  let start = first ?? "";
  for (const other of others) {
    let length = 0;
    while (length < start.length && start.charAt(length) === other.charAt(length)) length += 1;
    start = start.slice(0, length);
  }
  return start;
}

/**
 * Pattern: whether every line that a search shows holds letters that no usual line of a secret file
 * holds. What is not understood of a pattern counts as nothing: then the search may show anything.
 */
import { CODE_SIGNS, SECRET_LINES, SECRET_STEMS } from "./secret-lines.js";

/**
 * How a pattern is written: as it is, or as a regular expression of one of two kinds. `either`: the
 * settings say which.
 */
export type Dialect = "fixed" | "basic" | "extended" | "either";

/** Whether the pattern matches no line of a usual secret file. */
export function missesSecrets(pattern: string, dialect: Dialect): boolean {
  if (pattern.length > PATTERN_CHARS_MAX) return false;
  if (dialect === "either")
    return missesSecrets(pattern, "basic") && missesSecrets(pattern, "extended");
  if (dialect === "fixed") return pattern.split("\n").every((line) => isTelling(line));
  const from = dialect === "extended" && pattern.startsWith("(?i)") ? 4 : 0;
  const parsed = readBranches({ text: pattern, at: from, isBasic: dialect === "basic", depth: 0 });
  return parsed?.holds === true && parsed.at === pattern.length;
}

interface Reader {
  readonly text: string;
  readonly at: number;
  readonly isBasic: boolean;
  readonly depth: number;
}

interface Part {
  /** Whether all of its matches hold a telling run of letters. */
  readonly holds: boolean;
  readonly at: number;
}

const PATTERN_CHARS_MAX = 1_000;
const DEPTH_MAX = 8;

/**
 * Branches up to the end or the `)` of their group; undefined where something is not understood.
 */
function readBranches(start: Reader): Part | undefined {
  if (start.depth > DEPTH_MAX) return undefined;
  const { text, isBasic } = start;
  const [or, close] = isBasic ? ["\\|", "\\)"] : ["|", ")"];
  let { at } = start;
  let all = true;
  let holds = false;
  let run = "";
  const endRun = (isLastOptional = false): void => {
    holds ||= isTelling(isLastOptional ? run.slice(0, -1) : run);
    run = "";
  };
  while (at < text.length) {
    const letter = text.charAt(at);
    if (text.startsWith(or, at) || letter === "\n") {
      endRun();
      all &&= holds;
      holds = false;
      at += letter === "\n" ? 1 : or.length;
    } else if (text.startsWith(close, at) && start.depth > 0) break;
    else {
      const element = readElement({ ...start, at });
      if (element === undefined) return undefined;
      ({ at } = element);
      if (element.letter !== undefined) run += element.letter;
      const repeat = repeatAt({ ...start, at });
      if (element.letter === undefined || repeat !== undefined) {
        endRun(repeat?.mayBeNone === true && element.letter !== undefined);
        if (element.holds && repeat?.mayBeNone !== true) holds = true;
      }
      at = repeat?.at ?? at;
    }
  }
  endRun();
  return { holds: all && holds, at };
}

interface Element extends Part {
  /** The letter that it is; absent for sets, places, groups. */
  readonly letter?: string;
}

function readElement(reader: Reader): Element | undefined {
  const { text, at, isBasic } = reader;
  const letter = text.charAt(at);
  const next = text.charAt(at + 1);
  if (letter === "[") {
    const end = endOfSet(text, at);
    return end === undefined ? undefined : { holds: false, at: end + 1 };
  }
  if (isBasic ? letter === "\\" && next === "(" : letter === "(") return readGroup(reader);
  if (letter === "\\") {
    if (/^[bBwWsSdD<>]$/.test(next)) return { holds: false, at: at + 2 };
    return next === "" || /[A-Za-z0-9]/.test(next)
      ? undefined
      : { holds: false, at: at + 2, letter: next };
  }
  if (/[.^$]/.test(letter)) return { holds: false, at: at + 1 };
  return { holds: false, at: at + 1, letter };
}

/**
 * Where a set ends; undefined where two dialects could see it in two ways: with a set inside, or
 * with `\\]`.
 */
function endOfSet(text: string, start: number): number | undefined {
  let at = start + (/[!^]/.test(text.charAt(start + 1)) ? 2 : 1);
  if (text.charAt(at) === "]") at += 1;
  while (at < text.length && text.charAt(at) !== "]") {
    if (text.startsWith("[:", at)) {
      const end = text.indexOf(":]", at + 2);
      if (end < 0) return undefined;
      at = end + 2;
    } else if (text.charAt(at) === "[" || text.startsWith("\\]", at)) return undefined;
    else at += 1;
  }
  return at < text.length ? at : undefined;
}

function readGroup(reader: Reader): Element | undefined {
  const { text, at, isBasic, depth } = reader;
  const width = isBasic ? 2 : 1;
  if (/^[*]/.test(text.slice(at + width)) || /^\?(?!:)/.test(text.slice(at + width)))
    return undefined;
  const from = at + width + (!isBasic && text.startsWith("?:", at + width) ? 2 : 0);
  const inner = readBranches({ ...reader, at: from, depth: depth + 1 });
  if (inner === undefined || !text.startsWith(isBasic ? "\\)" : ")", inner.at)) return undefined;
  return { holds: inner.holds, at: inner.at + width };
}

/** `*`, `?`, `{2,3}` and the like, and whether with it there may be none. */
function repeatAt({
  text,
  at,
  isBasic,
}: Reader): { readonly at: number; readonly mayBeNone: boolean } | undefined {
  const found = isBasic ? /(?:\*|\\\?|\\\+|\\\{[0-9,]*\\\})+/y : /(?:[*?+]|\{[0-9]*,?[0-9]*\})+/y;
  found.lastIndex = at;
  const [signs] = found.exec(text) ?? [];
  return signs === undefined
    ? undefined
    : { at: at + signs.length, mayBeNone: signs !== "+" && signs !== "\\+" };
}

/** Words of at least this many letters tell: shorter ones stand in any key by chance. */
const LETTERS_MIN = 3;

/** Whether a run of letters is in no usual line of a secret file. */
function isTelling(run: string): boolean {
  const text = run.toLowerCase();
  if (CODE_SIGNS.some((signs) => text.includes(signs)) || /[^\x00-\x7f]/.test(text)) return true;
  if (SECRET_STEMS.test(text)) return false;
  // Keys and values have no blanks between them: a run with one is a phrase.
  if (
    /\S\s+\S/.test(text) &&
    (text.match(/[a-z]/g)?.length ?? 0) >= LETTERS_MIN &&
    !SECRET_LINES.includes(text.trim())
  )
    return true;
  return partsOf(run).some((part) => part.length >= LETTERS_MIN && !SECRET_LINES.includes(part));
}

/** `userName`, `user_name`, `USER-NAME2`: user, name. */
function partsOf(run: string): readonly string[] {
  return (run.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).map((part) => part.toLowerCase());
}

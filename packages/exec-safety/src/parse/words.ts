/**
 * Words of the parser into words of the tree: one word may become several, none, or one that is not
 * known.
 */
import type { Assignment as ParserAssignment, Word as ParserWord, WordPart } from "unbash";
import { BRACE_WORDS_TOTAL_MAX } from "../config/limits.js";
import type { Piece, Span, Word } from "./tree.js";
import { expandBraces, type Alternative } from "./braces.js";
import { refuse, requireGap, spanOf, type Conversion } from "./conversion.js";
import { bareText } from "./literal.js";
import { bareParts } from "./word-parts.js";
import { scriptsBelow } from "./scripts.js";

/** Where the shell looks for a `~`. */
type Tilde = "start" | "assignment";

const ASSIGNMENT_LIKE = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;
const OPENER = /[{[]/;
const CONTINUED = "\\\n";
/** Nothing in it that the shell looks at: most words, which need no closer look. */
const ORDINARY = /^[A-Za-z0-9_./:=@%+,-]+$/;

/** Adds the word of a command, of `for` or of an array: braces make several of one. */
export function addWords(state: Conversion, word: ParserWord, words: Word[]): void {
  const { text } = word;
  if (ORDINARY.test(text)) {
    words.push({
      span: spanOf(state, word),
      raw: text,
      pieces: [{ kind: "text", text, quoted: false }],
      text,
    });
    return;
  }
  const { parts } = word;
  if (parts === undefined || !parts.some(({ type }) => type === "BraceExpansion")) {
    words.push(oneWord(state, word));
    return;
  }
  const alternatives = expandBraces(parts);
  if (
    alternatives === undefined ||
    state.braceWords + alternatives.length > BRACE_WORDS_TOTAL_MAX
  ) {
    words.push(unknownWord(state, word, "braces that are not expanded here"));
    return;
  }
  state.braceWords += alternatives.length;
  const frame = { span: spanOf(state, word), raw: text };
  for (const units of alternatives) {
    const pieces = alternativePieces(state, units);
    if (pieces.length > 0) words.push(makeWord(frame, pieces));
  }
}

/** Words one after the other. */
export function listWords(state: Conversion, list: readonly ParserWord[]): readonly Word[] {
  const words: Word[] = [];
  let end: number | undefined;
  for (const word of list) {
    requireGap(state, word, end);
    addWords(state, word, words);
    ({ end } = word);
  }
  return words;
}

/** A word that stays one: the target of a redirection, a value, a pattern. */
export function oneWord(state: Conversion, word: ParserWord, tilde?: Tilde): Word {
  const how = tilde ?? (ASSIGNMENT_LIKE.test(word.text) ? "assignment" : "start");
  return makeWord({ span: spanOf(state, word), raw: word.text }, wordPieces(state, word, how));
}

/** `name=value` as an argument of `export` and the like. */
export function assignmentWord(state: Conversion, assignment: ParserAssignment): Word {
  const { append, index, name, text, value } = assignment;
  const frame = { span: spanOf(state, assignment), raw: text };
  if (value.type === "Word" && value.text.startsWith("(")) {
    refuse(state, {
      ruleId: "shell.unparsable",
      span: frame.span,
      message: "text that touches an array",
    });
  }
  const isPlain =
    append !== true && index === undefined && value.type === "Word" && !value.text.startsWith("(");
  if (!isPlain)
    return makeWord(frame, [
      { kind: "other", what: "an array", scripts: scriptsBelow(state, [assignment]) },
    ]);
  return makeWord(frame, [
    { kind: "text", text: `${name}=`, quoted: false },
    ...wordPieces(state, value, "assignment"),
  ]);
}

/** A word of which only the scripts are known. */
export function unknownWord(state: Conversion, word: ParserWord, what: string): Word {
  return makeWord({ span: spanOf(state, word), raw: word.text }, [
    { kind: "other", what, scripts: scriptsBelow(state, [word]) },
  ]);
}

export function makeWord(
  frame: { readonly span: Span; readonly raw: string },
  pieces: readonly Piece[],
): Word {
  let text = "";
  for (const piece of pieces) {
    if (piece.kind !== "text") return { ...frame, pieces };
    text += piece.text;
  }
  return { ...frame, pieces, text };
}

function wordPieces(state: Conversion, word: ParserWord, tilde: Tilde): readonly Piece[] {
  const { parts, text } = word;
  const unknown = (what: string): readonly Piece[] => [
    { kind: "other", what, scripts: scriptsBelow(state, [word]) },
  ];
  // What stands before a `~` decides on it, and a line that goes on hides that.
  if (text.includes("~") && text.includes(CONTINUED)) return unknown("a line that goes on");
  if (parts === undefined) {
    if (text === "") return [];
    const pieces = bareText(text);
    return pieces === undefined || (OPENER.test(text) && hasUnread(pieces))
      ? unknown("text that can be read in two ways")
      : withHome(pieces, text, tilde);
  }
  if (isJoined(parts)) return unknown("a line that goes on inside an expansion");
  const pieces = parts.flatMap((part) => bareParts(state, part));
  return OPENER.test(text) && hasUnread(pieces)
    ? unknown("braces that are not expanded here")
    : withHome(pieces, text, tilde);
}

/** A line that goes on right behind an expansion goes on with its name. */
function isJoined(parts: readonly WordPart[]): boolean {
  return parts.some(
    (part, at) => at > 0 && part.type === "Literal" && part.text.startsWith(CONTINUED),
  );
}

function alternativePieces(state: Conversion, units: Alternative): readonly Piece[] {
  const pieces: Piece[] = [];
  let bare = "";
  let raw = "";
  const flush = (): void => {
    if (bare !== "")
      pieces.push(
        ...(bareText(bare) ?? [
          { kind: "other", what: "braces that are not expanded here", scripts: [] },
        ]),
      );
    bare = "";
  };
  for (const unit of units) {
    raw += typeof unit === "string" ? unit : unit.text;
    if (typeof unit === "string") {
      bare += unit;
    } else {
      flush();
      pieces.push(...bareParts(state, unit));
    }
  }
  flush();
  return withHome(pieces, raw, ASSIGNMENT_LIKE.test(raw) ? "assignment" : "start");
}

/**
 * Bare braces with a bare comma or two dots between them, or a bare pair of brackets: the parser
 * saw nothing to expand, the shell might. With a comma it takes any later brace for the closing
 * one: `{a},b}` is `a}` and `b`.
 */
function hasUnread(pieces: readonly Piece[]): boolean {
  let depth = 0;
  let isOpen = false;
  let isSplit = false;
  let isBracket = false;
  for (const piece of pieces) {
    if (piece.kind !== "text" || piece.quoted) continue;
    for (const [found] of piece.text.matchAll(/\[\]|[{},[\]]|\.\./g)) {
      if (
        (found === "}" && isSplit) ||
        (found === ".." && depth > 0) ||
        (found === "]" && isBracket)
      )
        return true;
      depth += found === "{" ? 1 : found === "}" && depth > 0 ? -1 : 0;
      isOpen ||= found === "{";
      isSplit ||= found === "," && isOpen;
      isBracket ||= found.startsWith("[");
    }
  }
  return false;
}

/** Puts the home directory in the place of `~`; the name of a user behind it is not known. */
function withHome(pieces: readonly Piece[], raw: string, tilde: Tilde): readonly Piece[] {
  if (!raw.includes("~")) return pieces;
  return pieces.flatMap((piece, at): readonly Piece[] => {
    if (piece.kind !== "text" || piece.quoted || !piece.text.includes("~")) return [piece];
    return tildes(piece.text, { isFirst: at === 0, isLast: at === pieces.length - 1, tilde });
  });
}

interface TildePlace {
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly tilde: Tilde;
}

function tildes(text: string, { isFirst, isLast, tilde }: TildePlace): readonly Piece[] {
  const pieces: Piece[] = [];
  const start =
    tilde === "assignment" && isFirst ? (ASSIGNMENT_LIKE.exec(text)?.[0].length ?? 0) : 0;
  let done = 0;
  for (let at = text.indexOf("~"); at !== -1; at = text.indexOf("~", at + 1)) {
    const opens =
      (isFirst && (at === start || at === 0)) ||
      (tilde === "assignment" && /[:=]/.test(text.charAt(at - 1)));
    if (!opens) continue;
    const next = text.charAt(at + 1);
    const ends = next === "/" || (next === "" ? isLast : next === ":" && tilde === "assignment");
    if (at > done) pieces.push({ kind: "text", text: text.slice(done, at), quoted: false });
    pieces.push(
      ends
        ? { kind: "home", quoted: false }
        : { kind: "other", what: "the home directory of another user", scripts: [] },
    );
    done = at + 1;
  }
  if (done < text.length) pieces.push({ kind: "text", text: text.slice(done), quoted: false });
  return pieces;
}

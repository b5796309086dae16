/**
 * Census: the second opinion on the parser. It reads the text once more, with few rules of its own,
 * and reports every substitution and operator that the tree does not show where it stands. It
 * trusts the tree's places only, and never makes anything safer.
 */
import type { Report } from "../findings.js";
import type { Node, Piece, Redirect, Script, Span, Word } from "./tree.js";
import { nodesOf, wordsOf } from "./visit.js";

/** What a substitution starts with; `<(` and `>(` do outside quotes only. */
const OPENER = /\$[([]|`|[<>]\(/;
/** Without any of these there is nothing that two readings could disagree on. */
const SPECIAL = /[$`(<>'"\\]/;
/** Nothing in it that the shell looks at. */
const ORDINARY = /^[A-Za-z0-9_./:=@%+,-]+$/;
const OPERATOR = /[;|&<>()\s]/;
/** An expansion that holds nothing but a name. */
const PLAIN_EXPANSION = /\$\{[#!]?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])\}/y;
const COMMENT = /(?<=^|[\s;&|()])#.*/g;

/**
 * How the shell reads the text of a word: `body` of a here-document, `pattern` behind `=~`, `known`
 * where it reads nothing in it.
 */
type Reading = "bare" | "body" | "pattern" | "known";

/** A stretch of the text, and the words it stands for. */
interface Stretch extends Span {
  readonly words: readonly Word[];
  readonly reading: Reading;
}

interface Census {
  readonly text: string;
  readonly report: Report;
}

/** Reports what the tree does not explain. */
export function census(text: string, script: Script, report: Report): void {
  if (!SPECIAL.test(text)) return;
  countScript({ text, report }, { script, inside: { start: 0, end: text.length } });
}

function countScript(
  state: Census,
  { script, inside }: { readonly script: Script; readonly inside: Span },
): void {
  let done = inside.start;
  for (const stretch of grouped(stretchesOf(state, script.body))) {
    if (stretch.start < inside.start) {
      // Inside escaped backquotes words have no place of their own, so that nothing there can be
      // confirmed.
      if (OPENER.test(stretch.words.map(({ raw }) => raw).join(" ")))
        reportAt(state, stretch.start);
      continue;
    }
    if (stretch.start < done) continue;
    countGap(state, { start: done, end: stretch.start });
    countWord(state, stretch);
    done = stretch.end;
  }
  countGap(state, { start: done, end: inside.end });
}

/** In order of the text; words that braces made share one place. */
function grouped(stretches: readonly Stretch[]): readonly Stretch[] {
  const groups: Stretch[] = [];
  for (const stretch of stretches
    .filter(({ start, end }) => end > start)
    .toSorted((a, b) => a.start - b.start)) {
    const last = groups.at(-1);
    if (last?.start === stretch.start && last.end === stretch.end)
      groups[groups.length - 1] = { ...last, words: [...last.words, ...stretch.words] };
    else groups.push(stretch);
  }
  return groups;
}

/** The words of a script itself; the words of scripts inside them are counted with those. */
function stretchesOf({ text }: Census, root: Node): readonly Stretch[] {
  const stretches: Stretch[] = [];
  const readings = new Map<Word, Reading>();
  const visit = (node: Node): void => {
    if (node.type === "command" || node.type === "redirected")
      markBodies(text, node.redirects, readings);
    if (node.type === "test") {
      for (const { operator, words } of node.comparisons)
        for (const word of words) if (operator === "=~") readings.set(word, "pattern");
    }
    // Arithmetic commands and the like are refused with everything in them.
    const known: Reading | undefined =
      node.type === "refused" && node.construct.startsWith("arithmetic") ? "known" : undefined;
    for (const word of wordsOf(node)) {
      const { start, end } = word.span;
      stretches.push({ start, end, words: [word], reading: known ?? readings.get(word) ?? "bare" });
    }
    for (const inner of nodesOf(node)) visit(inner);
  };
  visit(root);
  return stretches;
}

function markBodies(
  text: string,
  redirects: readonly Redirect[],
  readings: Map<Word, Reading>,
): void {
  for (const { body, span } of redirects) {
    if (body !== undefined)
      readings.set(body, /["'\\]/.test(text.slice(span.start, span.end)) ? "known" : "body");
  }
}

/** Between words there are operators, keywords and comments. */
function countGap(state: Census, { start, end }: Span): void {
  const gap = state.text.slice(start, end);
  if (!OPENER.test(gap)) return;
  const found = OPENER.exec(gap.replace(COMMENT, (comment) => " ".repeat(comment.length)));
  if (found !== null) reportAt(state, start + found.index);
}

function countWord(state: Census, { start, end, reading, words }: Stretch): void {
  const raw = state.text.slice(start, end);
  if (reading === "known" || (words.length === 1 && words[0]?.raw === raw && ORDINARY.test(raw)))
    return;
  if (words.some((word) => word.raw !== raw)) return reportAt(state, start);
  const shown = new Map<number, Shown>();
  for (const word of words)
    if (word.text === undefined) for (const piece of word.pieces) note(piece, shown);
  const scanner: Scanner = { end, reading, shown, inQuotes: reading === "body", inBraces: false };
  for (let at = start; at < end; ) at = step(state, { scanner, at });
}

/** A substitution that the tree shows: its end, and the scripts in it. */
interface Shown {
  readonly end: number;
  readonly scripts: readonly Script[];
}

function note(piece: Piece, shown: Map<number, Shown>): void {
  switch (piece.kind) {
    case "script":
      shown.set(piece.script.span.start, { end: piece.script.span.end, scripts: [piece.script] });
      return;
    case "arithmetic":
      shown.set(piece.span.start, { end: piece.span.end, scripts: piece.scripts });
      return;
    case "other":
      for (const script of piece.scripts)
        shown.set(script.span.start, { end: script.span.end, scripts: [script] });
      return;
    case "variable":
      for (const word of piece.operands) for (const inner of word.pieces) note(inner, shown);
      return;
    default:
  }
}

interface Scanner {
  readonly end: number;
  readonly reading: Reading;
  readonly shown: ReadonlyMap<number, Shown>;
  /** Inside double quotes, or in the body of a here-document, where they are letters. */
  inQuotes: boolean;
  /**
   * Behind a `${` with more than a name in it. Quotes mean too many things there to be trusted, up
   * to the end of the word.
   */
  inBraces: boolean;
}

/** Where the next step starts. */
function step(
  state: Census,
  { scanner, at }: { readonly scanner: Scanner; readonly at: number },
): number {
  const { text } = state;
  const isBare = !scanner.inQuotes && !scanner.inBraces;
  const two = text.slice(at, at + 2);
  if (
    two === "$(" ||
    two === "$[" ||
    two[0] === "`" ||
    ((two === "<(" || two === ">(") && !scanner.inQuotes)
  ) {
    return substitution(state, { scanner, at });
  }
  switch (two[0]) {
    case "\\":
      return at + 2;
    case "'":
      return isBare ? closingQuote(text, at + 1) : at + 1;
    case '"':
      if (scanner.reading !== "body" && !scanner.inBraces) scanner.inQuotes = !scanner.inQuotes;
      return at + 1;
    case "$":
      if (two === "$'" && isBare) return closingEscapedQuote(text, at + 2);
      if (two !== "${") return two === "$$" ? at + 2 : at + 1;
      PLAIN_EXPANSION.lastIndex = at;
      if (PLAIN_EXPANSION.test(text)) return PLAIN_EXPANSION.lastIndex;
      scanner.inBraces = true;
      return at + 2;
    default:
      if (isBare && scanner.reading === "bare" && OPERATOR.test(text.charAt(at)))
        reportAt(state, at);
      return at + 1;
  }
}

function substitution(
  state: Census,
  { scanner, at }: { readonly scanner: Scanner; readonly at: number },
): number {
  const found = scanner.shown.get(at);
  if (found === undefined) {
    reportAt(state, at);
    return at + 1;
  }
  for (const script of found.scripts) {
    const { start, end } = script.span;
    countScript(state, {
      script,
      inside: { start: start + (state.text.charAt(start) === "`" ? 1 : 2), end: end - 1 },
    });
  }
  return found.end;
}

function closingQuote(text: string, from: number): number {
  const at = text.indexOf("'", from);
  return at === -1 ? text.length : at + 1;
}

function closingEscapedQuote(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charAt(at) !== "'") at += text.charAt(at) === "\\" ? 2 : 1;
  return at + 1;
}

function reportAt(state: Census, at: number): void {
  state.report({
    ruleId: "shell.unexplained",
    level: "needs-review",
    layer: "shell-syntax",
    span: { start: at, end: at + 1 },
    message: "a part that two readings of the command do not agree on",
  });
}

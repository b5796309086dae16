/**
 * Conversion: what the steps from the parser's nodes to our tree share. It lives for one call of
 * parseShell().
 */
import type { ParsedScript, Word as ParserWord } from "unbash";
import type { Finding } from "../findings.js";
import type { SafetyLimits } from "../safety.js";
import type { Script, Span, Word } from "./tree.js";

/** State of one conversion. */
export interface Conversion {
  readonly limits: SafetyLimits;
  /** What the positions of nodes count in. */
  source: string;
  commands: number;
  hereDocuments: number;
  braceWords: number;
  depth: number;
  /**
   * The first reason to refuse the text. What can be read is read on, for what is plainly
   * destructive in it.
   */
  refused: Finding | undefined;
  /** A bound is reached: the rest is skipped. */
  isOver: boolean;
  /**
   * Place of everything inside escaped backquotes, whose own positions count in a text that nobody
   * sees.
   */
  fixed: Span | undefined;
  readonly convertScript: (script: ParsedScript, span: Span) => Script;
  readonly convertOperand: (word: ParserWord) => Word;
}

/** Where a node is in the judged text. */
export function spanOf(
  state: Conversion,
  node: { readonly pos: number; readonly end: number },
): Span {
  return state.fixed ?? { start: node.pos, end: node.end };
}

/** The first refusal stays. */
export function refuse(
  state: Conversion,
  finding: { readonly ruleId: string; readonly span: Span; readonly message: string },
): void {
  state.refused ??= { level: "needs-review", layer: "shell-syntax", ...finding };
}

/** A bound is reached. */
export function stop(
  state: Conversion,
  finding: { readonly ruleId: string; readonly span: Span; readonly message: string },
): void {
  refuse(state, finding);
  state.isOver = true;
}

/** A level deeper; `undefined` where that is too deep, or a bound is reached. */
export function deeper<T>(state: Conversion, span: Span, convert: () => T): T | undefined {
  if (state.isOver) return undefined;
  if (state.depth >= state.limits.nestingMax) {
    stopAtDepth(state, span);
    return undefined;
  }
  state.depth++;
  const converted = convert();
  state.depth--;
  return converted;
}

export function stopAtDepth(state: Conversion, span: Span): void {
  stop(state, {
    ruleId: "shell.too-deep",
    span,
    message: `more than ${state.limits.nestingMax} levels of nesting`,
  });
}

/**
 * Refuses a word that touches what stands before it, up to `end`: bash reads `a<(b)` as one word,
 * the parser as two.
 */
export function requireGap(
  state: Conversion,
  word: { readonly pos: number; readonly end: number },
  end: number | undefined,
): void {
  if (word.pos !== end) return;
  refuse(state, {
    ruleId: "shell.unparsable",
    span: spanOf(state, word),
    message: "two words without a blank between them",
  });
}

/**
 * Judge a word: whether what the shell does to make it only reads. What the word then means to its
 * program is not judged here.
 */
import { shown } from "../text/shown.js";
import type { State } from "./state.js";
import type { Piece, Span, Variable, Word } from "../parse/tree.js";
import { canShow, isHarmlessOperator } from "./variables.js";
import { syntax } from "./walk.js";
import type { Walk } from "./walk.js";

/** Judges all expansions of some words. */
export function judgeWords(walk: Walk, state: State, words: readonly Word[]): void {
  for (const word of words) judgeWord(walk, state, word);
}

/** Judges the expansions of one word. */
export function judgeWord(walk: Walk, state: State, word: Word): void {
  if (word.text !== undefined) return;
  for (const piece of word.pieces) judgePiece(walk, state, { piece, span: word.span });
}

function judgePiece(
  walk: Walk,
  state: State,
  { piece, span }: { readonly piece: Piece; readonly span: Span },
): void {
  switch (piece.kind) {
    case "text":
    case "glob":
    case "home":
      return;
    case "variable":
      judgeVariable(walk, state, { variable: piece, span });
      return;
    case "script":
      if (piece.form === "write") {
        walk.report(
          syntax(
            "expansion.write",
            piece.script.span,
            "`>(…)` runs a command that gets whatever is written there",
          ),
        );
      }
      walk.script(piece.script, state);
      return;
    case "arithmetic":
      if (!piece.isPlain) {
        walk.report(
          syntax("expansion.arithmetic", span, "arithmetic on names reads their values as code"),
        );
      }
      for (const script of piece.scripts) walk.script(script, state);
      return;
    case "other":
      walk.report(syntax("expansion.other", span, `${piece.what} is not followed`));
      for (const script of piece.scripts) walk.script(script, state);
      return;
    default:
      piece satisfies never;
  }
}

function judgeVariable(
  walk: Walk,
  state: State,
  { variable, span }: { readonly variable: Variable; readonly span: Span },
): void {
  const { name, operator, operands } = variable;
  if (!state.variables.has(name) && !canShow(name)) {
    walk.report(
      syntax(
        "variable.environment",
        span,
        `${shown(`$${name}`)} comes from the environment and may hold a secret`,
      ),
    );
  }
  if (operator !== undefined && !isHarmlessOperator(operator) && !isPlainPart(operator, operands)) {
    walk.report(
      syntax(
        "variable.operator",
        span,
        `what is done to ${shown(name)} in \`\${…}\` can set it or read its value as code`,
      ),
    );
  }
  judgeWords(walk, state, operands);
}

/**
 * `${v:0:7}`: a part at plain numbers. Anything else there is arithmetic, which reads names as
 * code.
 */
function isPlainPart(operator: string, operands: readonly Word[]): boolean {
  return (
    operator === ":" &&
    operands.length > 0 &&
    operands.every(({ text }) => text !== undefined && /^\d{1,9}$/.test(text))
  );
}

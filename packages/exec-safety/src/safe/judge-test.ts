/**
 * Judge `[[ … ]]`: comparisons of texts and files. Those of numbers read a text as code, so that
 * only literal numbers pass.
 */
import { shown } from "../text/shown.js";
import { judgeWords } from "./judge-word.js";
import type { State } from "./state.js";
import type { Comparison, Span, Word } from "../parse/tree.js";
import { syntax } from "./walk.js";
import type { Walk } from "./walk.js";

const TEXTS: ReadonlySet<string> = new Set(["", "-n", "-z", "=", "==", "!=", "<", ">", "=~"]);
const FILES: ReadonlySet<string> = new Set(
  "-a -b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S -t -nt -ot -ef".split(" "),
);
const NUMBERS: ReadonlySet<string> = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);

/** Judges the comparisons of one `[[ … ]]`. */
export function judgeTest(
  walk: Walk,
  state: State,
  { comparisons, span }: { readonly comparisons: readonly Comparison[]; readonly span: Span },
): void {
  for (const { operator, words } of comparisons) {
    judgeWords(walk, state, words);
    if (
      TEXTS.has(operator) ||
      FILES.has(operator) ||
      (NUMBERS.has(operator) && words.every(isNumber))
    )
      continue;
    const message = NUMBERS.has(operator)
      ? `${shown(operator)} reads a text that is not a plain number as code`
      : `${shown(operator)} inside \`[[ ]]\` can read a name as code`;
    walk.report(syntax("test.code", span, message));
  }
}

/** A literal number, or one that the shell itself fills in. */
function isNumber({ text, pieces }: Word): boolean {
  if (text !== undefined) return /^-?(?:0|[1-9]\d{0,17})$/.test(text);
  const [piece] = pieces;
  if (pieces.length !== 1 || piece === undefined) return false;
  if (piece.kind === "arithmetic") return piece.isPlain;
  return (
    piece.kind === "variable" &&
    ((piece.operator === undefined && /^[?#]$/.test(piece.name)) || piece.operator === "length")
  );
}

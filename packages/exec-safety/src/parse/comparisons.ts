/**
 * Comparisons of `[[ … ]]`, in the order of the text; how they are joined does not matter, each may
 * run.
 */
import type { TestExpression, Word as ParserWord } from "unbash";
import type { Comparison, Word } from "./tree.js";
import { deeper, spanOf, type Conversion } from "./conversion.js";
import { makeWord, oneWord } from "./words.js";

/**
 * A regular expression without quotes, escapes and expansions: operators are letters in it, and a
 * `$` ends it or a part of it.
 */
const PLAIN_REGEX = /^(?:[^\\"'`<>;&\s$~]|\$(?=[)|]|$))*$/;

export function convertComparisons(
  state: Conversion,
  expression: TestExpression,
): readonly Comparison[] {
  return deeper(state, spanOf(state, expression), () => comparisonsOf(state, expression)) ?? [];
}

function comparisonsOf(state: Conversion, expression: TestExpression): readonly Comparison[] {
  switch (expression.type) {
    case "TestUnary":
      return [
        { operator: expression.operator, words: [oneWord(state, expression.operand, "start")] },
      ];
    case "TestBinary": {
      const { left, operator, right } = expression;
      return [
        { operator, words: [oneWord(state, left, "start"), rightWord(state, { operator, right })] },
      ];
    }
    case "TestLogical":
      return expression.operands.flatMap((operand) => convertComparisons(state, operand));
    case "TestNot":
      return convertComparisons(state, expression.operand);
    case "TestGroup":
      return convertComparisons(state, expression.expression);
    default:
      return expression satisfies never;
  }
}

function rightWord(
  state: Conversion,
  { operator, right }: { readonly operator: string; readonly right: ParserWord },
): Word {
  if (operator !== "=~" || !PLAIN_REGEX.test(right.text)) return oneWord(state, right, "start");
  return makeWord({ span: spanOf(state, right), raw: right.text }, [
    { kind: "text", text: right.text, quoted: false },
  ]);
}

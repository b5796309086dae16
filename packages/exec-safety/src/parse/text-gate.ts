/**
 * Text gate: what is refused before a parser reads it. One pass each, linear in the text; looks at
 * characters only, never at meaning.
 */
import type { Finding } from "../findings.js";
import { BLANKS_MAX, LINE_ENDS_MAX, SUBSTITUTIONS_MAX } from "../config/limits.js";
import type { SafetyLimits } from "../safety.js";

/** Other than printable ASCII, tabs and line ends. */
const UNUSUAL = /[^\t\n\x20-\x7e]/;
const CONTROL = /[\p{Cc}\p{Cs}]/u;
/**
 * What a person cannot see or cannot tell from a blank. An emoji may hold a joiner and a selector;
 * so a selector behind an emoji, and a joiner between two of them, are visible.
 */
const INVISIBLE =
  /(?!(?<=\p{Extended_Pictographic})\ufe0f)(?!(?<=[0-9#*])\ufe0f(?=\u20e3))(?!(?<=\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)\u200d(?=\p{Extended_Pictographic}))[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;
const PADDING = new RegExp(`[ \\t]{${BLANKS_MAX},}|(?:\\n[ \\t]*){${LINE_ENDS_MAX},}`);
const SUBSTITUTION = /[$<>]\(|\$[{[]|`/g;
const BRACKET = /[(){}]/g;

/** Why the text is not analysed at all, or `undefined` where it may be. */
export function checkText(text: string, limits: SafetyLimits): Finding | undefined {
  if (text.length > limits.charsMax)
    return finding("text.too-long", {
      at: limits.charsMax,
      message: `longer than ${limits.charsMax} characters`,
    });
  return checkCharacters(text) ?? checkPadding(text) ?? checkNesting(text, limits);
}

function checkCharacters(text: string): Finding | undefined {
  if (!UNUSUAL.test(text)) return undefined;
  // The tab and the line end are the two control characters that a command may hold.
  const plain = text.replace(/[\t\n]/g, " ");
  const control = CONTROL.exec(plain);
  if (control !== null)
    return finding("text.control", {
      at: control.index,
      message: "a control character, which a terminal would not show",
    });
  const invisible = INVISIBLE.exec(plain);
  if (invisible === null) return undefined;
  return finding("text.invisible", {
    at: invisible.index,
    message: "a character that cannot be seen, or that only looks like a blank",
  });
}

function checkPadding(text: string): Finding | undefined {
  const padding = PADDING.exec(text);
  if (padding === null) return undefined;
  return finding("text.padding", {
    at: padding.index,
    message: "so much blank space that it can hide what comes after it",
  });
}

/**
 * Counts without regard to quotes, which only makes it stricter: the exact depth is the parser's
 * matter.
 */
function checkNesting(text: string, { nestingMax }: SafetyLimits): Finding | undefined {
  const substitutions = [...text.matchAll(SUBSTITUTION)];
  const beyond = substitutions[SUBSTITUTIONS_MAX];
  if (beyond !== undefined)
    return finding("text.too-many-substitutions", {
      at: beyond.index,
      message: `more than ${SUBSTITUTIONS_MAX} substitutions`,
    });
  let depth = 0;
  for (const { 0: bracket, index } of text.matchAll(BRACKET)) {
    depth = bracket === "(" || bracket === "{" ? depth + 1 : Math.max(0, depth - 1);
    if (depth > nestingMax)
      return finding("shell.too-deep", {
        at: index,
        message: `more than ${nestingMax} levels of nesting`,
      });
  }
  return undefined;
}

function finding(
  ruleId: string,
  { at, message }: { readonly at: number; readonly message: string },
): Finding {
  return {
    ruleId,
    level: "needs-review",
    layer: "shell-syntax",
    span: { start: at, end: at + 1 },
    message,
  };
}

/**
 * Words: splits a command of the config into program and arguments. No shell ever reads it, so
 * syntax that only a shell understands is refused, not passed on as text that its writer did not
 * mean. Format: spec/home.md §3.
 */

/**
 * The result of {@link splitWords}: the words, or the problem as the end of a sentence that starts
 * with "the command".
 */
export type SplitWords = { readonly words: readonly string[] } | { readonly problem: string };

const BLANK = /[ \t]/;
/**
 * Outside quotes these mean pipes, lists, redirections, substitution and file patterns to a shell.
 */
const SHELL = /[|&;<>()$`*?[\]{}!\r\n]/;
/** Inside double quotes a shell would still substitute. */
const SUBSTITUTED = /[$`]/;
const ESCAPED_IN_DOUBLE = /["\\$`]/;

/**
 * Splits a command at blanks. Text in `'…'` is literal. In `"…"` and outside quotes, a backslash
 * makes the next character literal (in `"…"` only `"`, `\`, `$` and a backquote).
 */
export function splitWords(text: string): SplitWords {
  const words: string[] = [];
  let word: string | undefined;
  let quote: "'" | '"' | undefined;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    const next = text.charAt(at + 1);
    if (char === "\0") return { problem: "has a NUL character" };
    if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else if (quote === '"' && char === "\\" && ESCAPED_IN_DOUBLE.test(next))
        [word, at] = [`${word ?? ""}${next}`, at + 1];
      else if (quote === '"' && SUBSTITUTED.test(char))
        return {
          problem: `has ${char} in double quotes, but there is no shell: use single quotes`,
        };
      else word = `${word ?? ""}${char}`;
    } else if (BLANK.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (char === "'" || char === '"') {
      [quote, word] = [char, word ?? ""];
    } else if (char === "\\") {
      if (next === "" || next === "\n") return { problem: "ends a line with a backslash" };
      [word, at] = [`${word ?? ""}${next}`, at + 1];
    } else if (SHELL.test(char) || (word === undefined && (char === "~" || char === "#"))) {
      return {
        problem: `has ${JSON.stringify(char)}, but there is no shell: put it in single quotes if it is meant as text`,
      };
    } else {
      word = `${word ?? ""}${char}`;
    }
  }
  if (quote !== undefined) return { problem: `has no closing ${quote}` };
  if (word !== undefined) words.push(word);
  if (words[0] === undefined || words[0] === "") return { problem: "names no program" };
  return { words };
}

/**
 * Words: splits a command of the config into program and arguments. No shell ever sees it, so what only a shell can do is refused
 * instead of being passed on as text that the writer did not mean. Format: spec/home.md §3.
 */

/** The words, or what is wrong, completing "the command …". */
export type SplitWords = { readonly words: readonly string[] } | { readonly problem: string };

const BLANK = /[ \t]/;
/** Outside quotes these mean pipes, lists, redirections, substitution and file patterns to a shell. */
const SHELL = /[|&;<>()$`*?[\]{}!\r\n]/;
/** Inside double quotes a shell would still substitute. */
const SUBSTITUTED = /[$`]/;
const ESCAPED_IN_DOUBLE = /["\\$`]/;

/**
 * Splits at blanks. `'…'` is taken as it is; in `"…"` and outside quotes a backslash takes the next character as it is (in `"…"` only
 * before `"`, `\`, `$` and a backquote).
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
      else if (quote === '"' && char === "\\" && ESCAPED_IN_DOUBLE.test(next)) [word, at] = [`${word ?? ""}${next}`, at + 1];
      else if (quote === '"' && SUBSTITUTED.test(char))
        return { problem: `has ${char} in double quotes, but there is no shell: use single quotes` };
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
      return { problem: `has ${JSON.stringify(char)}, but there is no shell: put it in single quotes if it is meant as text` };
    } else {
      word = `${word ?? ""}${char}`;
    }
  }
  if (quote !== undefined) return { problem: `has no closing ${quote}` };
  if (word !== undefined) words.push(word);
  if (words[0] === undefined || words[0] === "") return { problem: "names no program" };
  return { words };
}

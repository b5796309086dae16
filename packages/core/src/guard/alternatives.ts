/**
 * Alternatives: the paths and globs that a pattern with braces or extended globs stands for:
 * `.{env,netrc}`, `@(a|b)/c`. Pure.
 */

const ALTERNATIVES_MAX = 64;
/** Groups that are looked at, one after another; a person's own pattern has two or three. */
const ROUNDS_MAX = 64;
/** The innermost group: `{a,b}`, `{1..3}`, `@(a|b)`. */
const GROUP = /([@+?*!])\(([^()]*)\)|\{([^{},]*\.\.[^{},]*)\}|\{([^{}]*,[^{}]*)\}/;

/** What a pattern stands for; `isCut` where that is more than is looked at. */
export interface Alternatives {
  readonly texts: readonly string[];
  readonly isCut: boolean;
}

const NONE: Alternatives = { texts: [], isCut: false };

function optionsOf([, sign, group, range, list]: RegExpExecArray): readonly string[] {
  if (range !== undefined || sign === "!") return ["*"];
  if (group === undefined) return list?.split(",") ?? [];
  const options = group.split("|");
  return sign === "?" || sign === "*" ? ["", ...options] : options;
}

function expandOne(text: string): readonly string[] {
  const found = GROUP.exec(text);
  if (found === null) return [text];
  const [before, after] = [text.slice(0, found.index), text.slice(found.index + found[0].length)];
  return [...new Set(optionsOf(found))].map((option) => before + option + after);
}

/** What a pattern stands for; nothing where it has no groups. */
export function alternativesOf(text: string): Alternatives {
  if (/[\r\n]/.test(text) || !GROUP.test(text)) return NONE;
  let texts: readonly string[] = [text];
  for (let round = 0; round < ROUNDS_MAX && texts.some((each) => GROUP.test(each)); round += 1) {
    const next = texts.flatMap(expandOne);
    if (next.length > ALTERNATIVES_MAX) return { texts, isCut: true };
    texts = next;
  }
  return { texts, isCut: texts.some((each) => GROUP.test(each)) };
}

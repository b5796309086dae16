/**
 * Torn names: a file's name may hold blanks and line breaks. Whoever takes a list apart at these,
 * as `xargs`, `read` and an unquoted `$x` do, gets words that nobody listed: `./x -oREADME.md y.ts`
 * is one file for `find`, and three arguments for what `xargs` runs.
 */
import type { ArgumentValue } from "./argument.js";
import type { Edit } from "../findings.js";
import { globMayNameSecret } from "./reach/choice.js";

/** Where a list is taken apart. */
export type Cut = "blank" | "line" | "nul";

type Values = readonly ArgumentValue[];

/** Any word: names, paths, and flags. */
const WORDS: Values = [
  { text: "*", isGlob: true, isTorn: true },
  { text: "*/*", isGlob: true, isTorn: true },
];

/**
 * What the parts of a list can be that is taken apart at `cut`. `toCut` are the edits with which
 * that would be at NUL.
 */
export function takeApart(values: Values, cut: Cut, toCut?: readonly Edit[]): Values {
  const mends = mendsOf(values, toCut);
  if (values.every((value) => staysWhole(value, cut)))
    return values.map((value) => (value.isTorn === true ? { ...value, ...mends } : value));
  const hasCompany = values.every((value) => value.hasCompany === true || endsWell(value));
  return WORDS.map((word) => ({ ...word, ...mends, ...(hasCompany && { hasCompany }) }));
}

function staysWhole({ isGlob, ends }: ArgumentValue, cut: Cut): boolean {
  if (!isGlob || ends === "word") return true;
  return cut === "line" ? ends === "quoted" : cut === "nul" && ends === "nul";
}

/** The edits that keep the names of a list whole, and those that take secrets out of it as well. */
function mendsOf(
  values: Values,
  toCut: readonly Edit[] | undefined,
): Pick<ArgumentValue, "whole" | "sift"> {
  const toNul = toCut === undefined ? undefined : editsOf(values, ({ toNul: edits }) => edits);
  if (toNul === undefined || toCut === undefined) return {};
  const whole = [...toNul, ...toCut];
  const sifts = editsOf(values, ({ isSifted, sift }) => (isSifted === true ? [] : sift));
  return { whole, ...(sifts !== undefined && { sift: [...whole, ...sifts] }) };
}

/** Whether the last word of a name is never a secret, nor a flag that names one. */
const endsWell = ({ text, isSifted, isTorn }: ArgumentValue): boolean =>
  isSifted === true || (isTorn !== true && !globMayNameSecret(text));

/** The edits of all values; undefined where one has none. */
function editsOf(
  values: Values,
  of: (value: ArgumentValue) => readonly Edit[] | undefined,
): readonly Edit[] | undefined {
  const all = values.map((value) => of(value));
  return all.includes(undefined) ? undefined : [...new Set(all.flatMap((edits) => edits ?? []))];
}

/**
 * The words that the shell makes of a value without quotes, as of `$x`. `quotes` are the edits that
 * add them.
 */
export function splitWords(values: Values, quotes: readonly Edit[] | undefined): Values {
  if (values.every((value) => staysWhole(value, "blank"))) return values;
  return takeApart(values, "blank").map((word) => ({
    ...word,
    ...(quotes !== undefined && { whole: quotes, sift: quotes }),
  }));
}

/** The values as something else keeps them, one at a time: a variable, or each call of many. */
export function eachAlone(values: Values): Values {
  if (values.every(({ hasCompany }) => hasCompany === undefined)) return values;
  return values.map(({ text, isGlob, isSifted, ends, isTorn, whole, sift }) => ({
    text,
    isGlob,
    ...(isSifted === true && { isSifted }),
    ...(ends !== undefined && { ends }),
    ...(isTorn === true && { isTorn }),
    ...(whole !== undefined && { whole }),
    ...(sift !== undefined && { sift }),
  }));
}

/**
 * Odd characters of a pattern: what cannot be seen, and letters that are taken for others. Whoever
 * wrote it may not know that they are there.
 */
import { lookOf } from "./readings.js";

const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;
const ASCII = /^[ -~]+$/;
const MARKS = /\p{M}+/gu;
/** Letters of languages that are written with Latin ones, such as "ø" and "ł". */
const LATIN_END = 0x17f;

/** What is odd about a pattern, to follow on it; `undefined` where nothing is. */
export function oddityOf(pattern: string): string | undefined {
  const [unseen] = UNSEEN.exec(pattern) ?? [];
  if (unseen !== undefined) return `has a character that cannot be seen, ${codeOf(unseen)}`;
  const foreign = Array.from(pattern.normalize("NFC")).filter((each) => !ASCII.test(each));
  const taken = foreign.find(isTaken);
  if (taken === undefined || !(/[A-Za-z]/.test(pattern) || foreign.every(isTaken)))
    return undefined;
  return `has a character that looks like "${lookOf(taken)}" and is ${codeOf(taken)}`;
}

/** Whether a character looks like an ASCII one, and is more than that with a mark. */
function isTaken(character: string): boolean {
  const isLatin = (character.codePointAt(0) ?? 0) <= LATIN_END;
  return (
    !isLatin &&
    ASCII.test(lookOf(character)) &&
    !ASCII.test(character.normalize("NFD").replace(MARKS, ""))
  );
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

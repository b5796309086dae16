/**
 * Underlining: a command as a person may see it, with marks under what is spoken of. The text was
 * chosen by an agent: it is escaped, and a mark stands under what the terminal really shows.
 */
import { escapeText } from "@acp/core";

/** A span of the text, half open, in UTF-16 units. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** Two cells wide on a terminal: East Asian wide characters and emoji. */
const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const MARK = /^\p{M}/u;

/** Every line of the text, each with a line of marks below it where it holds one of the places. */
export function underline(
  text: string,
  places: readonly TextSpan[],
): readonly { readonly text: string; readonly marks: string }[] {
  const marked = markUnits(text.length, places);
  let start = 0;
  return text.split("\n").map((line) => {
    const from = start;
    start += line.length + 1;
    return underlineLine(line, marked.subarray(from, from + line.length));
  });
}

/** One for every unit that a place covers; an empty place covers the unit behind it. */
function markUnits(length: number, places: readonly TextSpan[]): Uint8Array {
  const marked = new Uint8Array(length);
  for (const { start, end } of places) marked.fill(1, start, Math.max(end, start + 1));
  return marked;
}

function underlineLine(
  line: string,
  marked: Uint8Array,
): { readonly text: string; readonly marks: string } {
  let text = "";
  let marks = "";
  for (let at = 0; at < line.length; ) {
    let end = at + 1;
    while (end < line.length && marked[end] === marked[at]) end++;
    const shown = escapeText(line.slice(at, end));
    text += shown;
    marks += (marked[at] === 1 ? "^" : " ").repeat(widthOf(shown));
    at = end;
  }
  return { text, marks: marks.trimEnd() };
}

function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += MARK.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

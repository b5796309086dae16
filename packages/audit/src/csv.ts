/**
 * CSV: RFC 4180 rows that a spreadsheet shows and never runs. Pure. Format: spec/audit.md §10.
 */

import { escapeCharacter } from "./line-ends.js";

/**
 * What a spreadsheet takes for a formula when a cell starts with it, also after blanks; the
 * full-width ones too.
 */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20|]/;
/**
 * What some reader takes for the end of a line or of a text, and what hides or turns other
 * characters.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/**
 * One row with its line end. A row is always one line: control characters are written as `\u000a`.
 */
export function csvRow(cells: readonly (string | number)[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

/** A number stays one; a text is quoted, and shown behind `'` where it would be a formula. */
function csvCell(cell: string | number): string {
  if (typeof cell === "number") return String(cell);
  const seen = cell.replaceAll("\\", "\\\\").replaceAll(UNSEEN, escapeCharacter);
  return `"${FORMULA.test(cell) ? "'" : ""}${seen.replaceAll('"', '""')}"`;
}

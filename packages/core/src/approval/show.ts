/**
 * How a text of others is shown: quoted, with long runs counted instead of written out, and with
 * its rows no wider than {@link ROW_COLUMNS_MAX}. All of it can be read back: what is not inside a
 * literal is ours. Format: spec/question-text.md §3.
 */
import { quoteText } from "@acp/exec-safety/text";

/** Columns of one row. What is not ASCII is taken for two, as wide letters are. */
export const ROW_COLUMNS_MAX = 120;
/** What a row starts with that continues the row above; no row of ours starts like it. */
const CONTINUED = "↪ ";
/** How often something stands in a row before it is counted. */
const RUN_MIN = 40;

const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9_.@:/+-]*$/;
// Anything of one to four characters that is there forty times; how much longer the run is, is
// counted without the expression.
const RUN = /([^]{1,4}?)\1{39}/gu;
const RUN_NAMES: ReadonlyMap<string, string> = new Map([
  [" ", "spaces"],
  ["\t", "tabs"],
  ["\n", "line breaks"],
]);
const SPLIT_ESCAPE = /\\(?:u[0-9a-f]{0,3})?$/;
const STAYS_WITH_THE_LAST = /^[\p{M}\udc00-\udfff]/u;

/**
 * A name as it is where it is plain and shorter than 40 characters, otherwise quoted.
 *
 * @example
 * ```ts
 * import { showName } from "@acp/core/unstable";
 *
 * showName("read_file");
 * ```
 */
export function showName(name: string): string {
  return PLAIN_NAME.test(name) && name.length < RUN_MIN ? name : showText(name);
}

/** A number with its thousands apart. */
export function showCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 value`, `2 values`. */
export function showMany(count: number, noun: string): string {
  return `${showCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * The text as JSON literals with its long runs counted between them: `"a" … 4,000 spaces … "b"`.
 */
export function showText(text: string): string {
  if (text.length < RUN_MIN) return quoteText(text);
  const parts: string[] = [];
  let at = 0;
  for (let found = RUN.exec(text); found !== null; found = RUN.exec(text)) {
    const unit = found[1] ?? "";
    let end = RUN.lastIndex;
    while (text.startsWith(unit, end)) end += unit.length;
    if (found.index > at) parts.push(quoteText(text.slice(at, found.index)));
    parts.push(
      `… ${showCount((end - found.index) / unit.length)} ${RUN_NAMES.get(unit) ?? `× ${quoteText(unit)}`} …`,
    );
    at = end;
    RUN.lastIndex = end;
  }
  if (at < text.length) parts.push(quoteText(text.slice(at)));
  return parts.join(" ");
}

/** One line as rows; joined again without {@link CONTINUED} they are the line. */
export function wrapLine(line: string): readonly string[] {
  if (line.length * 2 <= ROW_COLUMNS_MAX) return [line];
  const rows: string[] = [];
  for (let at = 0; at < line.length; ) {
    const mark = at === 0 ? "" : CONTINUED;
    const end = rowEnd(line, at, ROW_COLUMNS_MAX - mark.length);
    rows.push(mark + line.slice(at, end));
    at = end;
  }
  return rows;
}

/**
 * Where a row that starts at `at` ends: not inside an escape, nor between a letter and its marks.
 */
function rowEnd(line: string, at: number, columns: number): number {
  let end = at;
  for (
    let used = columnsOf(line, at);
    end < line.length && used <= columns;
    used += columnsOf(line, end)
  )
    end++;
  if (end === line.length) return end;
  while (STAYS_WITH_THE_LAST.test(line.slice(end, end + 2)) && end > at + 1) end--;
  const escape = SPLIT_ESCAPE.exec(line.slice(Math.max(at, end - 6), end))?.[0].length ?? 0;
  return end - escape > at ? end - escape : end;
}

/** Columns of one UTF-16 unit; the two of a character beyond U+FFFF have two together. */
function columnsOf(line: string, at: number): number {
  const unit = line.charCodeAt(at);
  return unit <= 0x7e || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
}

/** Cut: shortens a text without splitting a character of two UTF-16 units. */

/** The first `units` UTF-16 units at most. */
export function cutAfter(text: string, units: number): string {
  if (text.length <= units) return text;
  return text.slice(0, isInside(text, units) ? units - 1 : units);
}

/** The last `units` UTF-16 units at most. */
export function cutBefore(text: string, units: number): string {
  if (text.length <= units) return text;
  const start = text.length - units;
  return text.slice(isInside(text, start) ? start + 1 : start);
}

/** Whether an offset is between the two units of one character. */
function isInside(text: string, offset: number): boolean {
  return (text.codePointAt(offset - 1) ?? 0) > 0xffff;
}

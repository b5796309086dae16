/** Line time: the wall time of a line that was proven good, without parsing the rest of it. Pure. */

const TIMESTAMP = ',"timestamp":"';
const TIME_CHARS = "0000-00-00T00:00:00.000Z".length;

/** In milliseconds since 1970. No text holds an unescaped quote: the last such words are its own. */
export function readLineTime(line: Buffer): number {
  const at = line.lastIndexOf(TIMESTAMP) + TIMESTAMP.length;
  return Date.parse(line.toString("latin1", at, at + TIME_CHARS));
}

/**
 * Line ends: what a reader may take for one inside a text, written so that no name makes a line of
 * its own. Pure.
 */

/**
 * Ends of lines to some readers that JSON leaves in a text as they are. Escaped they are the same
 * text.
 */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** JSON that every reader takes for one line. */
export function onOneLine(json: string): string {
  return json.replaceAll(LINE_ENDS, escapeCharacter);
}

/** `\uXXXX` for every UTF-16 unit of a character. */
export function escapeCharacter(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}

/** One line: a JSON text as the line that the proxy passes on. */

const LF = 0x0a;
const CR = 0x0d;

/**
 * A JSON text with a line feed after it. Between values JSON may have line breaks, in its texts it has
 * none: each becomes a space. Only of text that JSON.parse accepts is the result the same JSON.
 */
export function oneLine(text: Buffer): Buffer {
  const line = Buffer.allocUnsafe(text.length + 1);
  text.copy(line);
  line[text.length] = LF;
  for (let at = 0; at < text.length; at++) if (line[at] === LF || line[at] === CR) line[at] = 0x20;
  return line;
}

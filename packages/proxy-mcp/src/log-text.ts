/**
 * Text of others in our log: one line, no control characters, bounded. A server's stderr must not
 * be able to forge or hide log lines.
 */
import { LOG_LINE_CHARS_MAX } from "./limits.js";

/** C0, C1, bidi controls, zero-width and line separators. */
const UNSAFE =
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** `text` as it may stand in a log line. */
export function logText(text: string): string {
  const shown =
    text.length > LOG_LINE_CHARS_MAX
      ? `${text.slice(0, LOG_LINE_CHARS_MAX)}… (${text.length} characters)`
      : text;
  return shown.replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

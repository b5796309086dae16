/** Shown: a piece of a command inside one of our messages. */
import { escapeText } from "./escape.js";

const SHOWN_MAX = 60;

/**
 * A piece of the command for a message: cut short, with everything escaped that could hide or
 * reorder.
 */
export function shown(text: string): string {
  return `\`${escapeText(text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text)}\``;
}

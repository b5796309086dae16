/**
 * Script: what the readers of scripts in a command share: what they answer, and how much they look
 * at.
 */
import type { Why } from "../table.js";

/** Files that a script reads, by their names in it; or why it needs a person. */
export type Reads = readonly string[] | Why;

/** Of everything that a reader does not understand. */
export const STRANGE: Why = {
  topic: "exec",
  text: "runs code beyond what is known to only compute and print",
};
/** Characters of one script that are read. */
export const CHARS_MAX = 8_000;
/** Formatted strings in formatted strings, templates in templates. */
export const DEPTH_MAX = 4;

/** The names in a list of them. */
export const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

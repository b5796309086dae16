/** Reading: what a text that others chose says, beside the text itself and never in place of it. */
import type { JsonValue } from "../../json/value.js";

/** One line of a reading, and what is looked into below it. */
export interface Reading {
  /** Ours, or escaped. */
  readonly line: string;
  /** Laid out below the line. */
  readonly value?: JsonValue;
  /** Texts that may have readings of their own. */
  readonly texts?: readonly string[];
}

/**
 * Reads a text that stands under a key; no reading where it is not of its kind. Says so where it is
 * of its kind and cannot be read for certain.
 */
export type Decoder = (text: string, key: string) => readonly Reading[];

/** Longer texts are not read: no reading grows a question by more than a constant times this. */
export const READ_CHARS_MAX = 8_192;

/** Decoders: everything that a text in an action's arguments can be read as. */
import { readCommand } from "./command.js";
import {
  readBase64,
  readBroken,
  readDataUrl,
  readJson,
  readLines,
  readPercent,
} from "./encoded.js";
import type { Decoder, Reading } from "./reading.js";
import { readUrl } from "./url.js";

/**
 * The table; each says on its own whether a text is of its kind. What a key announces comes before
 * what a text looks like.
 */
const DECODERS: readonly Decoder[] = [
  readBroken,
  readCommand,
  readJson,
  readUrl,
  readDataUrl,
  readBase64,
  readPercent,
  readLines,
];

/** The readings of a text: those of the first decoder that has any. */
export function readText(text: string, key: string): readonly Reading[] {
  for (const decode of DECODERS) {
    const readings = decode(text, key);
    if (readings.length > 0) return readings;
  }
  return [];
}

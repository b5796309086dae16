/// <reference lib="es2024.string" />
/** Text and its bytes: UTF-8 in and out, and positions for error messages. */
import { ConsentError } from "../errors.js";
import type { TextPosition } from "../errors.js";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/**
 * UTF-8 bytes as text; a byte order mark stays in the text.
 *
 * @throws ConsentError `json_invalid` for bytes that are not UTF-8.
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw new ConsentError("json_invalid", "Cannot read JSON: its bytes are not UTF-8", {
      cause: error,
    });
  }
}

/** A text as UTF-8 bytes. */
export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/**
 * UTF-8 bytes of a text. Counted only where the answer could cross `bound`; otherwise some number
 * on the same side of it.
 */
export function utf8Length(text: string, bound: number): number {
  if (text.length > bound || text.length * 3 <= bound) return text.length;
  return encoder.encode(text).byteLength;
}

/** Line and column of an offset, both from 1; lines end at LF, CR or CR LF. */
export function positionAt(text: string, offset: number): TextPosition {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

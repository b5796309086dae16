/**
 * Lines: a byte stream as lines of text, in memory bounded by the longest line allowed.
 */
import { LINE_BYTES_MAX } from "./event.js";

/** One line without its newline, or why it cannot be one. After `torn_line` and `line_too_long` no more lines come. */
export type Line = { readonly text: string } | { readonly fault: "not_json" | "torn_line" | "line_too_long" };

const NEWLINE = 0x0a;
/** Strict: bytes that are no UTF-8 make no text, and a byte order mark stays one. */
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The lines of a byte stream, in groups: one group a chunk, so that a reader does not wait once a line. Keeps views of the chunks. */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Line[]> {
  let pieces: Uint8Array[] = [];
  let waiting = 0;
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const isTooLong = waiting + end - start > LINE_BYTES_MAX;
      lines.push(isTooLong ? { fault: "line_too_long" } : decode([...pieces, chunk.subarray(start, end)]));
      if (isTooLong) {
        yield lines;
        return;
      }
      [pieces, waiting, start] = [[], 0, end + 1];
    }
    if (start < chunk.length) {
      pieces.push(chunk.subarray(start));
      waiting += chunk.length - start;
    }
    const isTooLong = waiting > LINE_BYTES_MAX;
    yield isTooLong ? [...lines, { fault: "line_too_long" }] : lines;
    if (isTooLong) return;
  }
  if (waiting > 0) yield [{ fault: "torn_line" }];
}

function decode(pieces: readonly Uint8Array[]): Line {
  const [only] = pieces;
  try {
    return { text: DECODER.decode(pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)) };
  } catch {
    return { fault: "not_json" };
  }
}

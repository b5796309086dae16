/**
 * Lines: a byte stream in blocks of whole lines, in memory bounded by the longest line allowed.
 * Nothing is decoded here.
 */
import { LINE_BYTES_MAX } from "./event.js";

/** Whole lines: each ends before the newline at one of `ends` and starts after the one before. */
export interface LineBlock {
  readonly bytes: Buffer;
  readonly ends: readonly number[];
  /** What follows the last of them; then no more blocks come. */
  readonly fault?: "torn_line" | "line_too_long";
}

const NEWLINE = 0x0a;
/** Strict: bytes that are no UTF-8 make no text, and a byte order mark stays one. */
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The lines of a byte stream, a block a chunk. */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LineBlock> {
  let rest: Uint8Array = new Uint8Array();
  for await (const chunk of chunks) {
    const block = splitChunk(rest, chunk);
    yield block;
    if (block.fault !== undefined) return;
    rest = block.bytes.subarray((block.ends.at(-1) ?? -1) + 1);
  }
  if (rest.length > 0) yield { bytes: Buffer.from(rest), ends: [], fault: "torn_line" };
}

function splitChunk(rest: Uint8Array, chunk: Uint8Array): LineBlock {
  const bytes =
    rest.length === 0
      ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
      : Buffer.concat([rest, chunk]);
  return endLines(bytes, rest.length);
}

/** The lines of these bytes, which start with one; none ends before `from`. */
export function endLines(bytes: Buffer, from: number): LineBlock {
  const ends: number[] = [];
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE, from); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    if (end - start > LINE_BYTES_MAX) return { bytes, ends, fault: "line_too_long" };
    ends.push(end);
    start = end + 1;
  }
  return bytes.length - start > LINE_BYTES_MAX
    ? { bytes, ends, fault: "line_too_long" }
    : { bytes, ends };
}

/** The text of a line; `undefined` where its bytes are no UTF-8. */
export function lineText(bytes: Uint8Array): string | undefined {
  try {
    return DECODER.decode(bytes);
  } catch {
    return undefined;
  }
}

/** So many bytes are verified in a few milliseconds. */
const PIECE_BYTES = 64 * 1024;

/** The lines of a block, some at a time, for who verifies them in slices. */
export function* piecesOf({ bytes, ends, fault }: LineBlock): Generator<LineBlock> {
  let from = 0;
  let piece: number[] = [];
  for (const end of ends) {
    piece.push(end - from);
    if (end - from < PIECE_BYTES) continue;
    yield { bytes: bytes.subarray(from, end + 1), ends: piece };
    [from, piece] = [end + 1, []];
  }
  yield { bytes: bytes.subarray(from), ends: piece, ...(fault !== undefined && { fault }) };
}

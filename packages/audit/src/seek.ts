/**
 * Seek: from where to read a file of a log to come to an event, found by halving, because numbers
 * rise from line to line. Judges no line.
 */
import type { FileHandle } from "node:fs/promises";
import { decodeEvent } from "./codec.js";
import { LINE_BYTES_MAX } from "./event.js";
import { lineText } from "./lines.js";
import { readRange } from "./tail.js";

const NEWLINE = 0x0a;
/** Read rather than halved any further. */
const CLOSE_BYTES = 64 * 1024;

/** Offset of a line at or before the event with this number, and not far before it. */
export async function seekSeq(handle: FileHandle, seq: number): Promise<number> {
  // INVARIANT: the events of all lines before `from` have lower numbers.
  let from = 0;
  for (let { size: to } = await handle.stat(); to - from > CLOSE_BYTES; ) {
    const middle = from + Math.floor((to - from) / 2);
    const line = await readLineAfter(handle, middle, to);
    if (line !== undefined && line.seq < seq) from = line.end;
    else to = middle;
  }
  return from;
}

/**
 * The first line that begins after the one at `from`; nothing where none ends before `to`, or it is
 * no event: who reads on from before finds it.
 */
async function readLineAfter(
  handle: FileHandle,
  from: number,
  to: number,
): Promise<{ readonly seq: number; readonly end: number } | undefined> {
  for (let length = CLOSE_BYTES; length <= 2 * LINE_BYTES_MAX; length *= 2) {
    const bytes = await readRange(handle, from, Math.min(to, from + length));
    const start = bytes.indexOf(NEWLINE) + 1;
    const end = start === 0 ? -1 : bytes.indexOf(NEWLINE, start);
    if (end !== -1) {
      const decoded = decodeEvent(lineText(bytes.subarray(start, end)) ?? "");
      return decoded.ok ? { seq: decoded.event.seq, end: from + end + 1 } : undefined;
    }
    if (from + length >= to) return undefined;
  }
  return undefined;
}

/**
 * LineSplitter: bytes in, lines out, with a bound on what one line may take. The line's bytes are
 * handed on as they came.
 */

/** Cuts a byte stream at line feeds. */
export interface LineSplitter {
  /**
   * The lines that `chunk` completes, without their line feed.
   *
   * @returns `undefined` where a line is longer than the bound; the stream cannot be read on.
   */
  push(chunk: Uint8Array): readonly Uint8Array[] | undefined;
}

const LINE_FEED = 0x0a;

/** A splitter whose lines take at most `bytesMax` bytes. */
export function createLineSplitter(bytesMax: number): LineSplitter {
  let parts: Uint8Array[] = [];
  let held = 0;
  const hold = (part: Uint8Array): boolean => {
    parts.push(part);
    held += part.length;
    return held <= bytesMax;
  };
  return {
    push(chunk) {
      const lines: Uint8Array[] = [];
      let from = 0;
      for (let to = chunk.indexOf(LINE_FEED); to !== -1; to = chunk.indexOf(LINE_FEED, from)) {
        if (!hold(chunk.subarray(from, to))) return undefined;
        lines.push(Buffer.concat(parts, held));
        parts = [];
        held = 0;
        from = to + 1;
      }
      return hold(chunk.subarray(from)) ? lines : undefined;
    },
  };
}

/**
 * Framing: a byte stream cut into lines at LF. Lines keep their bytes, terminator included, so that
 * they can be forwarded as received. A line that grows too long is dropped whole; what is left of
 * it are its two ends, to find whom to tell.
 */
import { LINE_BYTES_MAX, OVERSIZE_EDGE_BYTES } from "./limits.js";

/** The two ends of a line that was dropped. */
export interface OversizeLine {
  readonly head: Buffer;
  readonly tail: Buffer;
}

/** Where lines go. */
export interface LineHandlers {
  /** One line with its LF. */
  readonly onLine: (line: Buffer) => void;
  readonly onOversize: (line: OversizeLine) => void;
}

/** Cuts a stream into lines. */
export interface LineSplitter {
  push(chunk: Buffer): void;
  /** The stream is over: a last line without LF gets one. */
  end(): void;
}

const LF = 0x0a;
const EMPTY: Buffer = Buffer.alloc(0);

/** A splitter for one stream. */
export function createLineSplitter(
  handlers: LineHandlers,
  bytesMax: number = LINE_BYTES_MAX,
): LineSplitter {
  let parts: Buffer[] = [];
  let size = 0;
  /** Set while the rest of a line that is too long passes by. */
  let oversize: { readonly head: Buffer; tail: Buffer } | undefined;

  const keep = (part: Buffer): void => {
    if (oversize !== undefined) {
      oversize.tail = tailOf(oversize.tail, part);
      return;
    }
    parts.push(part);
    size += part.length;
    if (size <= bytesMax) return;
    oversize = { ...edgesOf(Buffer.concat(parts)) };
    parts = [];
  };
  const finish = (last: Buffer): void => {
    if (parts.length === 0 && oversize === undefined && last.length <= bytesMax) {
      handlers.onLine(last);
      return;
    }
    keep(last);
    const line = parts;
    const dropped = oversize;
    parts = [];
    size = 0;
    oversize = undefined;
    if (dropped === undefined) handlers.onLine(Buffer.concat(line));
    else handlers.onOversize(dropped);
  };
  return {
    push(chunk: Buffer): void {
      let from = 0;
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
        finish(chunk.subarray(from, end + 1));
        from = end + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
    },
    end(): void {
      if (parts.length > 0 || oversize !== undefined) finish(Buffer.from([LF]));
    },
  };
}

/** The two ends of a line. */
export function edgesOf(line: Buffer): OversizeLine {
  return { head: Buffer.from(line.subarray(0, OVERSIZE_EDGE_BYTES)), tail: tailOf(EMPTY, line) };
}

function tailOf(tail: Buffer, part: Buffer): Buffer {
  if (part.length >= OVERSIZE_EDGE_BYTES) return Buffer.from(part.subarray(-OVERSIZE_EDGE_BYTES));
  return Buffer.from(Buffer.concat([tail, part]).subarray(-OVERSIZE_EDGE_BYTES));
}

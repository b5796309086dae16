/**
 * Outbox: lines on their way to a stream, written together once per turn of the event loop.
 * A stream that fails takes nothing more; whoever owns it learns that from the stream's own end.
 */
import type { Writable } from "node:stream";
import { UNREAD_BYTES_MAX } from "./limits.js";

/** Lines on their way to one stream. */
export interface Outbox {
  /** Takes a line; its bytes must not change afterwards. */
  send(line: Buffer): void;
  /**
   * Writes what is waiting, then ends the stream; resolves when everything is handed over or the
   * stream failed.
   */
  end(): Promise<void>;
}

/** Below this size lines are joined by copying, which is cheaper than a vectored write. */
const JOIN_BYTES_MAX = 64 * 1024;

/**
 * What an outbox tells of its stream; each is told `true`, then `false` when the stream takes more
 * again.
 */
export interface OutboxHandlers {
  /** The stream wants no more for now. */
  readonly onPressure: (on: boolean) => void;
  /** More than `bytesMax` wait all the same. */
  readonly onFull?: (on: boolean) => void;
}

/** An outbox for one stream. */
export function createOutbox(
  stream: Writable,
  { onPressure, onFull = () => {} }: OutboxHandlers,
  bytesMax: number = UNREAD_BYTES_MAX,
): Outbox {
  let waiting: Buffer[] = [];
  let bytes = 0;
  let scheduled = false;
  let failed = false;
  const press = tellingChanges(onPressure);
  const fill = tellingChanges(onFull);
  const relax = (): void => {
    press(false);
    fill(false);
  };
  const flush = (): void => {
    scheduled = false;
    if (failed || waiting.length === 0) return;
    const lines = waiting;
    const isSmall = bytes <= JOIN_BYTES_MAX;
    waiting = [];
    bytes = 0;
    if (
      !(isSmall
        ? stream.write(lines.length === 1 ? lines[0] : Buffer.concat(lines))
        : writeTogether(stream, lines))
    )
      press(true);
  };
  const fail = (): void => {
    failed = true;
    waiting = [];
    relax();
  };
  stream.on("drain", relax);
  stream.on("error", fail);
  stream.on("close", fail);
  return {
    send(line: Buffer): void {
      if (failed) return;
      waiting.push(line);
      bytes += line.length;
      if (bytes + stream.writableLength > bytesMax) fill(true);
      if (scheduled) return;
      scheduled = true;
      // After the promises of this turn, and before anything else comes in.
      process.nextTick(flush);
    },
    end(): Promise<void> {
      flush();
      if (failed || stream.writableEnded || stream.destroyed) return Promise.resolve();
      return new Promise((resolve) => {
        stream.once("error", () => resolve());
        stream.once("close", () => resolve());
        stream.end(() => resolve());
      });
    },
  };
}

/** Whether the stream wants more. */
function writeTogether(stream: Writable, lines: readonly Buffer[]): boolean {
  stream.cork();
  const hasRoom = lines.map((line) => stream.write(line)).every(Boolean);
  stream.uncork();
  return hasRoom;
}

/** Tells only what differs from the last time, the first time `true`. */
function tellingChanges(tell: (on: boolean) => void): (on: boolean) => void {
  let last = false;
  return (on) => {
    if (on === last) return;
    last = on;
    tell(on);
  };
}

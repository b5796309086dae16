/**
 * Outbox: lines on their way to a stream, written together once per turn of the event loop.
 * A stream that fails takes nothing more; whoever owns it learns that from the stream's own end.
 */
import type { Writable } from "node:stream";

/** Lines on their way to one stream. */
export interface Outbox {
  /** Takes a line; its bytes must not change afterwards. */
  send(line: Buffer): void;
  /** Writes what is waiting, then ends the stream; resolves when everything is handed over or the stream failed. */
  end(): Promise<void>;
}

/** Below this size lines are joined by copying, which is cheaper than a vectored write. */
const JOIN_BYTES_MAX = 64 * 1024;

/**
 * An outbox for one stream.
 *
 * @param pressure - Told `true` when the stream wants no more for now, `false` when it does again.
 */
export function createOutbox(stream: Writable, pressure: (on: boolean) => void): Outbox {
  let waiting: Buffer[] = [];
  let bytes = 0;
  let scheduled = false;
  let pressed = false;
  let failed = false;

  const press = (on: boolean): void => {
    if (pressed === on) return;
    pressed = on;
    pressure(on);
  };
  const flush = (): void => {
    scheduled = false;
    if (failed || waiting.length === 0) return;
    const lines = waiting;
    const joined = bytes <= JOIN_BYTES_MAX;
    waiting = [];
    bytes = 0;
    let room: boolean;
    if (joined) room = stream.write(lines.length === 1 ? lines[0] : Buffer.concat(lines));
    else {
      stream.cork();
      room = lines.map((line) => stream.write(line)).every(Boolean);
      stream.uncork();
    }
    if (!room) press(true);
  };
  const fail = (): void => {
    failed = true;
    waiting = [];
    press(false);
  };
  stream.on("drain", () => press(false));
  stream.on("error", fail);
  stream.on("close", fail);
  return {
    send(line: Buffer): void {
      if (failed) return;
      waiting.push(line);
      bytes += line.length;
      if (scheduled) return;
      scheduled = true;
      setImmediate(flush);
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

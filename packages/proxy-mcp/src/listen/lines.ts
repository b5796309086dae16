/** Lines: the two ends of a connection within the process, one for the listener and one for a proxy. */
import { Duplex } from "node:stream";
import { createLineSplitter } from "../framing.js";
import { LINE_BYTES_MAX } from "../limits.js";
import { END_MS_MAX } from "./limits.js";

/** The listener's end. */
export interface Lines {
  /** The proxy's end. */
  readonly connection: Duplex;
  /** Sends a line to the proxy. */
  send(line: Buffer): void;
  /** Bytes that the proxy has not read yet. */
  waiting(): number;
  /**
   * The client is gone. A proxy that does not read as far as that hears it a while later, by a
   * connection that is destroyed.
   *
   * @param isCut - At once: what was sent and not read must not be served.
   */
  end(isCut?: boolean): void;
}

/** What comes from the proxy. */
export interface LinesHandlers {
  readonly onLine: (line: Buffer) => void;
  /** What comes next waits for it. */
  readonly pause: () => Promise<void> | undefined;
  /** Once: nothing more comes. */
  readonly onEnd: () => void;
}

/** Opens a pair. */
export function openLines(
  { onLine, pause, onEnd }: LinesHandlers,
  endMsMax: number = END_MS_MAX,
): Lines {
  const splitter = createLineSplitter(
    // Ours are no longer than a server's, and labels in place of secrets.
    { onLine, onOversize: () => connection.destroy() },
    2 * LINE_BYTES_MAX,
  );
  const connection = new Duplex({
    allowHalfOpen: true,
    read() {},
    write(chunk: Buffer, _encoding, done) {
      splitter.push(chunk);
      const paused = pause();
      if (paused === undefined) return done();
      // oxlint-disable-next-line promise/no-callback-in-promise -- a stream takes no promise
      void paused.then(() => done());
    },
    final(done) {
      splitter.end();
      done();
      // It is over on both sides: nobody is there to read the rest.
      connection.destroy();
    },
  });
  connection.on("error", () => {});
  let late: NodeJS.Timeout | undefined;
  connection.once("close", () => {
    clearTimeout(late);
    onEnd();
  });
  let isOver = false;
  return {
    connection,
    send: (line) => void (isOver || connection.destroyed || connection.push(line)),
    waiting: () => connection.readableLength,
    end(isCut = false) {
      if (isCut) connection.destroy();
      if (!isOver && !connection.destroyed) {
        connection.push(null);
        late = setTimeout(() => connection.destroy(), endMsMax);
        late.unref();
      }
      isOver = true;
    },
  };
}

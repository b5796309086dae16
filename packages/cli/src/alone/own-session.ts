/**
 * Own session: one session of a relay in the relay's own process, where a resident would have it at
 * the other end of a connection. Its streams belong to whoever serves it.
 */
import { PassThrough, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Io } from "../command.js";
import type { Link, LinkHandlers } from "../resident/link.js";
import { ROOM_BYTES } from "../resident/wire.js";

/** A session, from both sides. */
export interface OwnSession {
  /** The relay's side. */
  readonly link: Link;
  /** What serves the client works with. */
  readonly io: Io;
  /** Has the relay keep back what the client asks from now on; what it sent is read to its end. */
  hold(): void;
  /** Resolves when all that was written is the relay's. */
  flush(): Promise<void>;
}

const NO_TERMINAL = { isTTY: false };

/** Opens one; `io` is the process's. */
export function openOwnSession(io: Io, handlers: LinkHandlers): OwnSession {
  const stdin = new PassThrough({ highWaterMark: ROOM_BYTES });
  let isPaused = false;
  let goOn = (): void => undefined;
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      handlers.onOutput(chunk);
      if (isPaused) goOn = done;
      else done();
    },
  });
  stdin.on("drain", () => handlers.onRoom());
  for (const stream of [stdin, stdout]) stream.on("error", () => undefined);
  const isShut = (): boolean => stdin.writableEnded || stdin.destroyed;
  const end = (): void => void (isShut() ? undefined : stdin.end());
  return {
    link: {
      room: () => (isShut() || stdin.writableNeedDrain ? 0 : ROOM_BYTES),
      send: (bytes) => void (isShut() ? undefined : stdin.write(bytes)),
      // A gate of one client gives its calls no numbers.
      call: () => undefined,
      // Only the session that forwards nothing is followed by another one.
      ask: (calls) =>
        queueMicrotask(() => handlers.onKnown(new Set(Array.from(calls, ({ n }) => n)))),
      end,
      held: end,
      signal: () => undefined,
      pause: () => void (isPaused = true),
      resume() {
        isPaused = false;
        const next = goOn;
        goOn = () => undefined;
        next();
      },
    },
    io: {
      ...io,
      stdin: Object.assign(stdin, NO_TERMINAL),
      stdout: Object.assign(stdout, NO_TERMINAL),
    },
    hold: () => handlers.onHold(),
    async flush() {
      if (!stdout.writableEnded) stdout.end();
      await finished(stdout, { error: false }).catch(() => undefined);
    },
  };
}

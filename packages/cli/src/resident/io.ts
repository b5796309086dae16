/**
 * Session I/O: the standard streams and signals of one client, over the frames of its connection.
 * Input is bounded by the room that was given to the client, output by what the connection takes.
 */
import type { Socket } from "node:net";
import { Readable, Writable } from "node:stream";
import type { Io } from "../command.js";
import { BODY_BYTES_MAX, ROOM_BYTES, frameOf, roomFrame } from "./wire.js";
import type { Hello, Kind } from "./wire.js";

/** How many read bytes make a frame that gives room for more. */
const GIVE_BYTES = 64 * 1024;

const NO_TERMINAL = { isTTY: false };

/** The streams of a session, and what feeds them. */
export interface SessionIo {
  readonly io: Io;
  /** Takes bytes of the client's input; false if it sent more than it had room for. */
  input(bytes: Buffer): boolean;
  /** The client's input has ended. */
  end(): void;
  /** The client is told to end, or is gone. */
  stop(reason: string): void;
  /** Resolves when everything was handed to the connection. */
  flush(): Promise<void>;
}

/** Creates the streams of one client. */
export function createSessionIo(socket: Socket, hello: Hello): SessionIo {
  const stop = new AbortController();
  let room = ROOM_BYTES;
  let read = 0;
  let queued = 0;
  const give = (bytes: number): void => {
    read += bytes;
    if (read < GIVE_BYTES) return;
    room += read;
    if (!socket.destroyed) socket.write(roomFrame(read));
    read = 0;
  };
  const stdin = new Readable({
    highWaterMark: GIVE_BYTES,
    read() {
      // What was queued before has been taken.
      const taken = queued;
      queued = 0;
      give(taken);
    },
  });
  const stdout = outputTo(socket, "output");
  const stderr = outputTo(socket, "notice");
  stdin.on("error", () => undefined);
  const { env, cwd, userHome, pid, ppid, umask } = hello;
  return {
    io: {
      stdin: Object.assign(stdin, NO_TERMINAL),
      stdout: Object.assign(stdout, NO_TERMINAL),
      stderr: Object.assign(stderr, NO_TERMINAL),
      env,
      cwd,
      userHome,
      pid,
      ppid,
      umask,
      onStop: () => stop.signal,
      onSignals: () => undefined,
    },
    input(bytes) {
      room -= bytes.length;
      if (room < 0) return false;
      if (stdin.destroyed) give(bytes.length);
      else if (stdin.push(bytes)) give(bytes.length);
      else queued += bytes.length;
      return true;
    },
    end: () => void (stdin.destroyed ? undefined : stdin.push(null)),
    stop: (reason) => stop.abort(new Error(reason)),
    flush: () =>
      new Promise((resolve) => {
        for (const stream of [stdout, stderr]) if (!stream.writableEnded) stream.end();
        // Frames are written in order: this is the last one.
        if (socket.destroyed || !socket.writable) resolve();
        else socket.write("", () => resolve());
        socket.once("close", () => resolve());
      }),
  };
}

function outputTo(socket: Socket, kind: Kind): Writable {
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (socket.destroyed) return done(new Error("the client is gone"));
      let hasRoom = true;
      for (let at = 0; at < chunk.length; at += BODY_BYTES_MAX)
        hasRoom = socket.write(frameOf(kind, chunk.subarray(at, at + BODY_BYTES_MAX)));
      if (hasRoom) return done();
      const settle = (): void => {
        socket.off("drain", settle).off("close", settle);
        done();
      };
      socket.once("drain", settle).once("close", settle);
    },
  });
  stream.on("error", () => undefined);
  return stream;
}

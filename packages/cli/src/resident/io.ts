/**
 * Session I/O: the standard streams and signals of one client, over the frames of its connection.
 * Input is bounded by the room that was given to the client, output by what the connection takes.
 */
import type { Socket } from "node:net";
import { Readable, Writable } from "node:stream";
import type { Io } from "../command.js";
import { BODY_BYTES_MAX, ROOM_BYTES, frameHead, frameOf, roomFrame } from "./wire.js";
import type { Hello } from "./wire.js";

/** How many read bytes make a frame that gives room for more. */
const GIVE_BYTES = 64 * 1024;
/** Above this a client that does not read its answers gets no more room to ask. */
const UNREAD_BYTES_MAX: number = 1024 * 1024;
/** What a client does not read of its notices is left out beyond this: they hold up nobody. */
const NOTICE_BYTES_MAX: number = 256 * 1024;

/** Up to here a copy costs less than a write of two pieces. */
const COPIED_BYTES_MAX: number = 16 * 1024;

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
  const stdout = outputTo(socket);
  const give = (bytes: number): void => {
    read += bytes;
    if (read < GIVE_BYTES || stdout.writableLength > UNREAD_BYTES_MAX) return;
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
  const stderr = noticesTo(socket);
  stdout.on("drain", () => give(0));
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

/** Waits for no reader: what one does not read is lost to it. */
function noticesTo(socket: Socket): Writable {
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!socket.destroyed && socket.writableLength < NOTICE_BYTES_MAX)
        for (let at = 0; at < chunk.length; at += BODY_BYTES_MAX)
          socket.write(frameOf("notice", chunk.subarray(at, at + BODY_BYTES_MAX)));
      done();
    },
  });
  stream.on("error", () => undefined);
  return stream;
}

/** Once the connection takes more, or is gone. */
function whenDrained(socket: Socket, done: () => void): void {
  const settle = (): void => {
    socket.off("drain", settle).off("close", settle);
    done();
  };
  socket.once("drain", settle).once("close", settle);
}

function outputTo(socket: Socket): Writable {
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (socket.destroyed) return done(new Error("the client is gone"));
      if (chunk.length <= COPIED_BYTES_MAX) {
        if (socket.write(frameOf("output", chunk))) return done();
        return whenDrained(socket, done);
      }
      let hasRoom = true;
      // Its bytes are not copied.
      socket.cork();
      for (let at = 0; at < chunk.length; at += BODY_BYTES_MAX) {
        const body = chunk.subarray(at, at + BODY_BYTES_MAX);
        socket.write(frameHead("output", body.length));
        hasRoom = socket.write(body);
      }
      socket.uncork();
      if (hasRoom) return done();
      return whenDrained(socket, done);
    },
  });
  stream.on("error", () => undefined);
  return stream;
}

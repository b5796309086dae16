/**
 * Reach: connects to the resident of a home, if that is one of this user. Imports nothing of ours but
 * what is as small.
 */
import { type Socket, connect } from "node:net";
import { isOurs } from "../is-ours.js";
import type { Places } from "./places.js";
import { createFrameReader, readGreeting } from "./wire.js";
import type { Frame, Greeting } from "./wire.js";

/** A connection to a resident that has greeted. */
export interface Reached {
  readonly socket: Socket;
  readonly greeting: Greeting;
  /** Takes the frames from now on. */
  onFrames(take: (frame: Frame) => void): void;
  /** Takes no more frames, called while one is handed out; gives the bytes that follow it. */
  raw(): Buffer;
}

/** Who connects. */
export interface ReachOptions {
  readonly uid: number;
  /** A resident says something within this time, or it hangs. */
  readonly greetingMsMax: number;
}

/** Why there is no connection. */
export type Unreached = "none" | "hung" | "not_understood" | "not_ours";

/**
 * Connects.
 *
 * @param home - Its real path.
 */
export function reachResident(
  home: string,
  places: Places,
  { uid, greetingMsMax }: ReachOptions,
): Promise<Reached | Unreached> {
  const folders = [home, places.run, places.sockets];
  const isThere = (path: string): boolean => isOurs(path, uid);
  if (!isThere(places.agents)) return Promise.resolve("none");
  if (!folders.every(isThere)) return Promise.resolve("not_ours");
  return new Promise((resolve) => {
    const socket = connect(places.agents);
    let take: ((frame: Frame) => void) | undefined;
    const early: Frame[] = [];
    const settle = (found: Reached | Unreached): void => {
      clearTimeout(limit);
      socket.off("close", none);
      if (typeof found === "string") socket.destroy();
      resolve(found);
    };
    const none = (): void => settle("none");
    // What came while this process itself stood still is heard before silence counts.
    const limit = setTimeout(() => setImmediate(() => settle("hung")), greetingMsMax);
    let isGreeted = false;
    const reader = createFrameReader(
      (frame) => {
        if (isGreeted) return take === undefined ? void early.push(frame) : take(frame);
        isGreeted = true;
        const greeting = frame.kind === "greeting" ? readGreeting(frame.body) : undefined;
        if (greeting === undefined) return settle("not_understood");
        settle({
          socket,
          greeting,
          onFrames(next) {
            take = next;
            for (const each of early.splice(0)) next(each);
          },
          raw() {
            socket.pause().off("data", push);
            return reader.stop();
          },
        });
      },
      () => socket.destroy(),
    );
    socket.on("error", () => undefined);
    socket.on("close", none);
    const push = (chunk: Buffer): void => reader.push(chunk);
    socket.on("data", push);
  });
}

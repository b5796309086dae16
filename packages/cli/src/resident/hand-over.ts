/**
 * Hand over: how a resident gives way to another one. No session is opened any more, requests that
 * are under way finish, and then every client is told to open its next session elsewhere. Open
 * questions are not ended: they stay in the home, as they do when a process is killed, and the next
 * resident shows them again. Format: spec/resident.md §8.
 */
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { Session } from "./session.js";
import { createFrameReader, frameOf } from "./wire.js";

/** How long what is under way may take; after that its outcome is unknown. */
export const FINISH_MS = 10_000;
const LOOK_EVERY_MS = 20;
/** How long clients have to take what is written for them. */
const PART_MS = 2_000;

/** Whoever connects to a resident that gives way waits for the next one. */
export interface Lobby {
  /** Lets a connection wait. */
  enter(socket: Socket): void;
  /** Sends everybody on. */
  open(): Promise<void>;
}

/**
 * Nobody waits.
 *
 * @param greeting - What a connection hears first.
 */
export function createLobby(greeting: () => Buffer): Lobby {
  const waiting = new Set<Socket>();
  return {
    enter(socket) {
      waiting.add(socket);
      // A hello is heard and nothing else: there is no room for more.
      const reader = createFrameReader(
        ({ kind }) => void (kind === "hello" ? socket.pause() : socket.destroy()),
        () => socket.destroy(),
      );
      socket.on("error", () => socket.destroy());
      socket.on("close", () => waiting.delete(socket));
      socket.on("data", (chunk: Buffer) => reader.push(chunk));
      socket.write(greeting());
    },
    async open() {
      await Promise.all(
        Array.from(
          waiting,
          (socket) =>
            new Promise<void>((resolve) => {
              socket.once("close", () => resolve());
              socket.resume().end(frameOf("again"), () => resolve());
            }),
        ),
      );
    },
  };
}

/** Lets what is under way finish, as long as that may take. */
export async function finishRequests(
  sessions: ReadonlySet<Pick<Session, "hold" | "underWay">>,
  finishMs: number = FINISH_MS,
): Promise<void> {
  const over = new AbortController();
  const limit = wait(finishMs, undefined, { signal: over.signal }).catch(() => undefined);
  let isOver = false;
  void limit.then(() => (isOver = true));
  await Promise.race([Promise.all(Array.from(sessions, (session) => session.hold())), limit]);
  // What a client sent before it held back may not be read yet: quiet is what lasts.
  for (let quiet = 0; quiet < 2 && !isOver; ) {
    await wait(LOOK_EVERY_MS);
    quiet = [...sessions].some((session) => session.underWay()) ? 0 : quiet + 1;
  }
  over.abort();
}

/** Tells every client to go on elsewhere, once it has what is written for it. */
export async function partAll(
  sessions: ReadonlySet<Pick<Session, "part">>,
  lobby: Lobby,
): Promise<void> {
  const limit = wait(PART_MS, undefined, { ref: false });
  const all = [...Array.from(sessions, (session) => session.part()), lobby.open()];
  await Promise.race([Promise.all(all), limit]);
}

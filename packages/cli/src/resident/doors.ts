/**
 * Doors: ports on which a client of a resident accepts connections for its session, so that the
 * resident itself opens none. Each connection comes on a connection of its own to the agents'
 * socket; from its `ready` on it has nothing but the bytes of the one that was accepted. Format:
 * spec/resident.md §4.
 */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { ConsentError } from "@acp/core";
import { frameOf, readOpened, recordIn } from "./wire.js";

/** What comes in at a port. */
export interface Door {
  /** Stable, unique in its session. */
  readonly name: string;
  /** 0: a free one. */
  readonly port: number;
  /** Takes a connection, which is paused, and may be half-closed. */
  take(socket: Socket): void;
}

/** The doors of one session. */
export interface Doors {
  /**
   * Has the client listen; once.
   *
   * @returns The port of each door.
   * @throws ConsentError `options_invalid` where it cannot; Error where it is gone.
   */
  open(doors: readonly Door[]): Promise<readonly number[]>;
  /** Whether the client is gone. */
  isGone(): boolean;
  /** Aborts when the client passes on no more connections, because another resident follows. */
  readonly held: AbortSignal;
}

/** One session's doors, and the frames about them. */
export interface SessionDoors extends Doors {
  /** Takes a frame `opened`; false where it is none that may come now. */
  opened(body: Buffer): boolean;
  hold(): void;
  /** No connection comes in any more. */
  close(): void;
}

/** The doors of all sessions of a resident. */
export interface AllDoors {
  /** Those of one session, whose client is at the socket. */
  of(socket: Socket, client: string): SessionDoors;
  /** Gives a connection to the door that its first frame names, or says why not. */
  join(socket: Socket, body: Buffer): Refused | undefined;
}

/** Why a connection does not come in. */
export interface Refused {
  readonly code: "session_unknown" | "too_many_connections";
  readonly message: string;
}

/** Connections of one client, and of all together. */
export interface DoorLimits {
  readonly ofOne: number;
  readonly ofAll: number;
}

/** As spec/resident.md §6 has them. */
export const DOOR_LIMITS: DoorLimits = { ofOne: 512, ofAll: 2_048 };

const KEY_BYTES = 32;

interface Opened {
  readonly client: string;
  readonly doors: ReadonlyMap<string, Door>;
}

interface State {
  readonly limits: DoorLimits;
  /** By the key of a session. */
  readonly sessions: Map<string, Opened>;
  readonly counts: Map<string, number>;
  total: number;
}

/** None is open. */
export function createDoors(limits: DoorLimits = DOOR_LIMITS): AllDoors {
  const state: State = { limits, sessions: new Map(), counts: new Map(), total: 0 };
  return {
    of: (socket, client) => doorsOf(state, socket, client),
    join(socket, body) {
      const { key, door } = recordIn(body) ?? {};
      const opened = typeof key === "string" ? state.sessions.get(key) : undefined;
      const found = typeof door === "string" ? opened?.doors.get(door) : undefined;
      if (opened === undefined || found === undefined)
        return { code: "session_unknown", message: "the session of this connection is over" };
      const why = enter(state, opened.client, socket);
      if (why !== undefined) return { code: "too_many_connections", message: why };
      socket.write(frameOf("ready"));
      found.take(socket);
      return undefined;
    },
  };
}

function enter(state: State, client: string, socket: Socket): string | undefined {
  const { limits, counts } = state;
  const own = counts.get(client) ?? 0;
  if (own >= limits.ofOne) return `this client has ${own} connections already`;
  if (state.total >= limits.ofAll)
    return `the resident has ${limits.ofAll} connections of programs already`;
  counts.set(client, own + 1);
  state.total++;
  socket.once("close", () => {
    const left = (counts.get(client) ?? 1) - 1;
    if (left === 0) counts.delete(client);
    else counts.set(client, left);
    state.total--;
  });
  return undefined;
}

function doorsOf({ sessions }: State, socket: Socket, client: string): SessionDoors {
  const key = randomBytes(KEY_BYTES).toString("hex");
  const held = new AbortController();
  let take: ((body: Buffer) => boolean) | undefined;
  return {
    held: held.signal,
    isGone: () => socket.destroyed,
    hold: () => held.abort(),
    close: () => void sessions.delete(key),
    opened: (body) => take?.(body) === true,
    async open(wanted) {
      const doors = new Map(wanted.map((door) => [door.name, door]));
      const asked = wanted.map(({ name, port }) => ({ name, port }));
      const answer = new Promise<readonly number[] | string>((resolve, reject) => {
        take = (body) => {
          const opened = readOpened(body, asked.length);
          take = undefined;
          if (opened !== undefined) resolve(opened);
          return opened !== undefined;
        };
        const gone = (): void => reject(new Error("the client is gone"));
        if (socket.destroyed) gone();
        else socket.once("close", gone);
      });
      // Before the client hears of it: its first connection may be faster than its answer.
      sessions.set(key, { client, doors });
      if (!socket.destroyed) socket.write(frameOf("doors", JSON.stringify({ key, doors: asked })));
      const ports = await answer;
      if (typeof ports === "string") throw new ConsentError("options_invalid", ports);
      return ports;
    },
  };
}

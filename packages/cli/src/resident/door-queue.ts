/**
 * Door queue: connections of programs on their way into a session. What comes while there is none
 * waits, with nothing of it read, or hears why it cannot be served. Rules: spec/resident.md §4.
 */
import type { Socket } from "node:net";
import { carry, join, refuse } from "./door-carry.js";
import type { DoorRefusal, Joined } from "./door-carry.js";
import type { Reached, Unreached } from "./reach.js";
import { createTurns } from "./turns.js";

/** Parts of {@link createDoorQueue}. */
export interface DoorQueueParts {
  /** Connects to the resident that runs; starts none. */
  reach(): Promise<Reached | Unreached>;
  /** Has a session opened for what waits, or says why there will be none for a while. */
  want(): DoorRefusal | undefined;
}

/** Connections on their way. */
export interface DoorQueue {
  /** Passes a connection on once there is a session. */
  take(door: string, socket: Socket): void;
  /** Only brings one in, for who carries its bytes by other means. */
  enter(door: string): Promise<Joined | DoorRefusal>;
  /** There is a session that takes them, with this key; what waits goes first. */
  open(key: string): void;
  /** From now on they wait. */
  hold(): void;
  /** The session is over, and what went over it, too; what it wrote before still comes. */
  end(): void;
  /** Refuses what waits. */
  refuse(refusal: DoorRefusal): void;
  /** Refuses what waits and what comes. */
  close(refusal: DoorRefusal): void;
  isWaiting(): boolean;
  /** Calls back once nothing is under way any more. */
  onEmpty(hear: () => void): void;
}

/** Connections that wait for a session; more are refused. */
const WAITING_MAX = 512;
/** So many say at the same time whose they are: a resident keeps few that have not. */
const JOINS_AT_ONCE = 8;
/** How often one connection is tried where the resident does not take it. */
const TRIES_MAX = 5;

const NOT_TAKEN: DoorRefusal = {
  code: "resident_unavailable",
  reason: "the resident gate does not take the connection",
};

interface Waiting {
  readonly door: string;
  readonly tries: number;
  settle(how: Joined | DoorRefusal): void;
}

interface State extends DoorQueueParts {
  readonly turns: ReturnType<typeof createTurns>;
  /** What connections say to come in; undefined where none may come. */
  key: string | undefined;
  closed: DoorRefusal | undefined;
  waiting: Waiting[];
  /** What was brought in: its way to the resident, and what may end with it. */
  readonly passed: Map<Socket, Socket>;
}

/** There is no session yet. */
export function createDoorQueue(parts: DoorQueueParts): DoorQueue {
  const state: State = {
    ...parts,
    turns: createTurns(JOINS_AT_ONCE),
    key: undefined,
    closed: undefined,
    waiting: [],
    passed: new Map(),
  };
  const { passed } = state;
  const enter = (door: string): Promise<Joined | DoorRefusal> =>
    new Promise((settle) => admit(state, { door, tries: 0, settle }));
  const refuseAll = (refusal: DoorRefusal): void => {
    for (const each of state.waiting.splice(0)) each.settle(refusal);
  };
  return {
    enter,
    take(door, socket) {
      void enter(door).then((entered) => {
        if ("code" in entered) return refuse(socket, entered);
        passed.set(socket, entered.inner);
        socket.on("close", () => passed.delete(socket));
        carry(socket, entered);
      });
    },
    open(key) {
      state.key = key;
      for (const each of state.waiting.splice(0)) void pass(state, each);
    },
    hold: () => void (state.key = undefined),
    end() {
      state.key = undefined;
      for (const inner of passed.values()) inner.end();
    },
    refuse: refuseAll,
    close(refusal) {
      state.closed = refusal;
      refuseAll(refusal);
    },
    isWaiting: () => state.waiting.length > 0,
    onEmpty(hear) {
      const look = (): void => {
        if (passed.size === 0) hear();
      };
      for (const socket of passed.keys()) socket.once("close", () => setImmediate(look));
      look();
    },
  };
}

/** Passes a connection on, or keeps it until there is a session that takes it. */
function admit(state: State, one: Waiting): void {
  if (state.closed !== undefined) return one.settle(state.closed);
  if (state.key !== undefined) return void pass(state, one);
  if (state.waiting.length >= WAITING_MAX || one.tries >= TRIES_MAX) return one.settle(NOT_TAKEN);
  state.waiting.push(one);
  const problem = state.want();
  if (problem !== undefined) for (const each of state.waiting.splice(0)) each.settle(problem);
}

async function pass(state: State, one: Waiting): Promise<void> {
  const turn = state.turns.of();
  await turn.take();
  const { key } = state;
  const joined = key === undefined ? "again" : await join(state.reach, key, one.door);
  turn.give();
  if (joined === "again") return admit(state, { ...one, tries: one.tries + 1 });
  one.settle(joined);
}

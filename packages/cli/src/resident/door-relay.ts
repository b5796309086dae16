/**
 * Door relay: a client that accepts connections for its session with a resident, and passes each on,
 * byte for byte, over a connection of its own. It keeps listening over one resident after another;
 * what comes meanwhile waits, or hears why it cannot be served. Rules: spec/resident.md §4 and §5.
 */
import { type Server, createServer } from "node:net";
import { listenOnLoopback } from "@acp/host";
import type { DoorLink, LinkHandlers } from "./link.js";
import type { Reached, Unreached } from "./reach.js";
import type { Relay } from "./relay.js";
import type { DoorRefusal } from "./door-carry.js";
import { createDoorQueue } from "./door-queue.js";
import type { DoorQueue } from "./door-queue.js";
import { BACK_OFF_MS, LOOPING, createLosses } from "./losses.js";
import type { Losses } from "./losses.js";
import type { WantedDoors } from "./wire.js";

/** Parts of {@link createDoorRelay}. */
export interface DoorRelayParts {
  /** Opens a session, or says why there is none. Never rejects. */
  open(handlers: LinkHandlers): Promise<DoorLink | string>;
  /** Connects to the resident that runs; starts none. */
  reach(): Promise<Reached | Unreached>;
  output(bytes: Buffer): void;
  notice(bytes: Buffer | string): void;
  /** Takes a line for the person who started this. */
  say(text: string): void;
  exit(code: number): void;
  /** Milliseconds of a clock that only runs forward. Default: this process's. */
  readonly nowMs?: () => number;
}

/** Said by whoever is told to end. */
export const ENDING = "ending: no new requests; those under way have 10 s";

/** What has closed on one side gets the rest of its bytes to the other. */
const REST_MS = 2_000;

interface State {
  readonly parts: DoorRelayParts;
  readonly losses: Losses;
  readonly queue: DoorQueue;
  readonly servers: Map<string, { readonly server: Server; readonly port: number }>;
  link: DoorLink | undefined;
  isOpening: boolean;
  isEnding: boolean;
  /** What was printed once is not printed again. */
  hasPrinted: boolean;
  problem: DoorRefusal | undefined;
}

/** Starts at once. */
export function createDoorRelay(parts: DoorRelayParts): Relay {
  const state: State = {
    parts,
    losses: createLosses(parts.nowMs ?? (() => performance.now())),
    queue: createDoorQueue({ reach: () => parts.reach(), want: () => want(state) }),
    servers: new Map(),
    link: undefined,
    isOpening: false,
    isEnding: false,
    hasPrinted: false,
    problem: undefined,
  };
  void openSession(state);
  return {
    signal(name) {
      if (!state.isEnding && state.servers.size > 0) parts.say(ENDING);
      state.isEnding = true;
      for (const { server } of state.servers.values()) server.close();
      state.queue.close({ code: "closing", reason: "the proxy is closing" });
      if (state.link === undefined) leave(state, 0);
      else state.link.signal(name);
    },
  };
}

async function openSession(state: State): Promise<void> {
  const { parts } = state;
  state.isOpening = true;
  const isPrinted = state.hasPrinted;
  const own: { link?: DoorLink; early?: WantedDoors } = {};
  const opened = await parts.open({
    onOutput(bytes) {
      if (isPrinted) return;
      state.hasPrinted = true;
      parts.output(bytes);
    },
    onNotice: (bytes) => parts.notice(bytes),
    onRoom: () => undefined,
    onKnown: () => undefined,
    onHold() {
      state.queue.hold();
      own.link?.held();
    },
    onDoors(wanted) {
      if (own.link === undefined) own.early = wanted;
      else void openDoors(state, own.link, wanted);
    },
    onEnd: (how) => endSession(state, how),
  });
  state.isOpening = false;
  if (typeof opened === "string") return fail(state, opened);
  own.link = opened;
  state.link = opened;
  if (state.isEnding) opened.signal("SIGTERM");
  if (own.early !== undefined) void openDoors(state, opened, own.early);
}

/** Listens where it does not yet: ports stay over residents. */
async function openDoors(state: State, link: DoorLink, { key, doors }: WantedDoors): Promise<void> {
  try {
    for (const { name, port } of doors)
      if (!state.servers.has(name)) state.servers.set(name, await listen(state, name, port));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return link.opened({ message: why });
  }
  link.opened({ ports: doors.map(({ name }) => state.servers.get(name)?.port ?? 0) });
  if (state.link !== link) return;
  if (state.hasPrinted) state.parts.say("Connected to the resident gate again");
  state.problem = undefined;
  state.queue.open(key);
}

async function listen(
  state: State,
  door: string,
  wanted: number,
): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer(
    { allowHalfOpen: true, pauseOnConnect: true, noDelay: true },
    (socket) => {
      socket.on("error", () => socket.destroy());
      state.queue.take(door, socket);
    },
  );
  return { server, port: await listenOnLoopback(server, wanted) };
}

/** Opens a session for what waits, or says why it does not. */
function want(state: State): DoorRefusal | undefined {
  if (state.link !== undefined || state.isOpening) return undefined;
  if (!state.losses.mayTry()) return state.problem;
  void openSession(state);
  return undefined;
}

function endSession(state: State, how: Parameters<LinkHandlers["onEnd"]>[0]): void {
  const { losses, servers, queue } = state;
  state.link = undefined;
  queue.end();
  if (typeof how !== "string")
    return state.isEnding || servers.size === 0
      ? leave(state, how.code)
      : fail(state, `The resident gate ended the session (exit code ${how.code})`);
  if (state.isEnding) return leave(state, 0);
  // Who told it to end does not want it back before somebody needs it.
  if (how === "left" && servers.size > 0 && !queue.isWaiting()) return;
  if (how !== "lost" || losses.note()) void openSession(state);
  else fail(state, LOOPING, BACK_OFF_MS);
}

/** There is no session, and will be none for a while; what listens goes on. */
function fail(state: State, reason: string, waitMs?: number): void {
  const code = "resident_unavailable";
  state.parts.say(`${reason} [${code}]`);
  if (state.isEnding || state.servers.size === 0) return leave(state, 1);
  state.losses.wait(waitMs);
  state.problem = { code, reason };
  state.queue.refuse(state.problem);
}

/** Ends this process once what was passed on has its last bytes. */
function leave({ parts, queue }: State, code: number): void {
  setTimeout(() => parts.exit(code), REST_MS).unref();
  queue.onEmpty(() => parts.exit(code));
}

/**
 * Connections: sockets, whose they are, and which have a request. Where there are too many, one goes
 * that nobody uses, so that nobody keeps others out by holding some; and no client has more with
 * requests than are left for all others.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** All that are open. */
export interface Connections {
  /** Takes one in, and ends another where there are too many; false where all are in use. */
  add(socket: Socket): boolean;
  remove(socket: Socket): void;
  /**
   * A request began.
   *
   * @param onIdle - It is over, and no other one of its connection is open.
   */
  begin(response: ServerResponse, onIdle: () => void): void;
  /**
   * Its request had a token that is known; false where this client has as many connections with
   * requests as are left for others. A connection with a request of another client is ended.
   */
  identify(socket: Socket, key: string): boolean;
  readonly all: () => readonly Socket[];
}

interface Entry {
  key: string | undefined;
  readonly open: Set<ServerResponse>;
  /** Whether it is one of its client's connections with requests. */
  isInUse: boolean;
}

interface State {
  /** Those that are idle for longest come first. */
  readonly entries: Map<Socket, Entry>;
  /** How many connections with requests each client has. */
  readonly inUse: Map<string, number>;
  /** How many all clients have. */
  used: number;
}

/** Whether nobody is there any more who could be answered. */
export const isGone = (response: ServerResponse): boolean =>
  response.destroyed || response.req.socket.destroyed || !response.req.socket.writable;

/** None is open. */
export function createConnections(limits: {
  readonly all: number;
  readonly idleOfClient: number;
}): Connections {
  const state: State = { entries: new Map(), inUse: new Map(), used: 0 };
  const { entries } = state;
  const remove = (socket: Socket): void => {
    const entry = entries.get(socket);
    entries.delete(socket);
    if (entry === undefined) return;
    use(state, entry, false);
    // Node says nothing to one that waits behind another, and it would count as open for ever.
    for (const response of entry.open) if (response.socket === null) response.emit("close");
  };
  const drop = (socket: Socket): void => {
    remove(socket);
    socket.destroy();
  };
  const over = (socket: Socket, response: ServerResponse, onIdle: () => void): void => {
    const entry = entries.get(socket);
    if (entry === undefined || !entry.open.delete(response) || entry.open.size > 0) return;
    use(state, entry, false);
    entries.delete(socket);
    entries.set(socket, entry);
    onIdle();
    const { key } = entry;
    if (key === undefined || entries.size <= limits.idleOfClient) return;
    const own = [...entries].filter(([, each]) => each.open.size === 0 && each.key === key);
    const [oldest] = own;
    if (oldest !== undefined && own.length > limits.idleOfClient) drop(oldest[0]);
  };
  return {
    add(socket) {
      if (entries.size >= limits.all) {
        const last = leastNeeded(entries);
        if (last === undefined) return false;
        drop(last);
      }
      entries.set(socket, { key: undefined, open: new Set(), isInUse: false });
      return true;
    },
    remove,
    begin(response, onIdle) {
      const { socket } = response.req;
      entries.get(socket)?.open.add(response);
      response.once("close", () => over(socket, response, onIdle));
    },
    identify(socket, key) {
      const entry = entries.get(socket);
      // Whoever changed its owner now would have it count for nobody.
      const isOthers = entry?.isInUse === true && entry.key !== key;
      if (isOthers) drop(socket);
      // One that is gone: nobody hears what comes of it.
      return !isOthers && (entry === undefined || begins(state, entry, { key, all: limits.all }));
    },
    all: () => [...entries.keys()],
  };
}

/** Whether its client may have one more in use. */
function begins(
  state: State,
  entry: Entry,
  { key, all }: { readonly key: string; readonly all: number },
): boolean {
  entry.key = key;
  if (!entry.isInUse && (state.inUse.get(key) ?? 0) >= all - state.used) return false;
  use(state, entry, true);
  return true;
}

/** Counts a connection among those in use, or not any more. */
function use(state: State, entry: Entry, isInUse: boolean): void {
  const { key } = entry;
  if (entry.isInUse === isInUse || key === undefined) return;
  entry.isInUse = isInUse;
  const by = isInUse ? 1 : -1;
  state.used += by;
  const now = (state.inUse.get(key) ?? 0) + by;
  if (now === 0) state.inUse.delete(key);
  else state.inUse.set(key, now);
}

/**
 * Which one goes: without a known token, idle before others; then an idle one of the client that has
 * most of these; each time the one that has been so for longest.
 */
function leastNeeded(entries: State["entries"]): Socket | undefined {
  const all = [...entries];
  const unknown = all.filter(([, { key }]) => key === undefined);
  const [nobodys] = unknown.find(([, { open }]) => open.size === 0) ?? unknown[0] ?? [];
  if (nobodys !== undefined) return nobodys;
  const idle = new Map<string | undefined, Socket[]>();
  for (const [socket, { key, open }] of all)
    if (open.size === 0) idle.set(key, [...(idle.get(key) ?? []), socket]);
  const [most] = [...idle.values()].toSorted((one, other) => other.length - one.length);
  return most?.[0];
}

/**
 * Connections: sockets, whose they are, and which have a request. Where there are too many, one goes
 * that nobody uses, so that nobody keeps others out by holding some.
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
  /** Its request had a token that is known. */
  identify(socket: Socket, key: string): void;
  readonly all: () => readonly Socket[];
}

interface Entry {
  key: string | undefined;
  readonly open: Set<ServerResponse>;
}

/** Whether nobody is there any more who could be answered. */
export const isGone = (response: ServerResponse): boolean =>
  response.destroyed || response.req.socket.destroyed || !response.req.socket.writable;

/** None is open. */
export function createConnections(limits: {
  readonly all: number;
  readonly idleOfClient: number;
}): Connections {
  /** Those that are idle for longest come first. */
  const entries = new Map<Socket, Entry>();
  const idle = (): readonly (readonly [Socket, Entry])[] =>
    [...entries].filter(([, { open }]) => open.size === 0);
  const remove = (socket: Socket): void => {
    const entry = entries.get(socket);
    entries.delete(socket);
    // Node says nothing to one that waits behind another, and it would count as open for ever.
    for (const response of entry?.open ?? []) if (response.socket === null) response.emit("close");
  };
  const drop = (socket: Socket): void => {
    remove(socket);
    socket.destroy();
  };
  const over = (socket: Socket, response: ServerResponse, onIdle: () => void): void => {
    const entry = entries.get(socket);
    if (entry === undefined || !entry.open.delete(response) || entry.open.size > 0) return;
    entries.delete(socket);
    entries.set(socket, entry);
    onIdle();
    const { key } = entry;
    if (key === undefined || entries.size <= limits.idleOfClient) return;
    const own = idle().filter(([, other]) => other.key === key);
    const [oldest] = own;
    if (oldest !== undefined && own.length > limits.idleOfClient) drop(oldest[0]);
  };
  return {
    add(socket) {
      if (entries.size >= limits.all) {
        const free = idle();
        const [last] = free.find(([, { key }]) => key === undefined) ?? free[0] ?? [];
        if (last === undefined) return false;
        drop(last);
      }
      entries.set(socket, { key: undefined, open: new Set() });
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
      if (entry !== undefined) entry.key = key;
    },
    all: () => [...entries.keys()],
  };
}

/**
 * Connections: the agents' sockets, and what is under way on each. One that has no request under
 * way for too long is closed; its errors end it and nothing else.
 */
import type { Socket } from "node:net";
import type { ProxyLimits } from "./limits.js";
import type { Caller } from "./caller.js";
import type { Watch } from "./watch.js";

/** One thing under way on a connection. */
export interface UnderWay {
  /** The agent sends no more. */
  onHalfClosed(): void;
  /** The connection is gone. */
  onClosed(): void;
}

/** One connection of an agent. */
export interface Connection {
  readonly socket: Socket;
  /** Who it belongs to, where that was known before it said anything. */
  readonly caller: Caller | undefined;
  /** Whether the agent ended its side. */
  readonly isHalfClosed: boolean;
  /** How much is under way. */
  load(): number;
  /** Notes something under way; the returned function ends it. */
  begin(work: UnderWay): () => void;
}

/** All connections. */
export interface Connections {
  /** How many there are. */
  readonly size: number;
  /** Takes a socket in; `undefined` where there are too many. */
  add(socket: Socket, caller?: Caller): Connection | undefined;
  of(socket: Socket): Connection | undefined;
  /** Closes those that have nothing under way, now and from now on. */
  drain(): void;
  /** Closes all of them. */
  cut(): void;
  /** Resolves when there is none. */
  gone(): Promise<void>;
}

interface Held extends Connection {
  readonly works: Set<UnderWay>;
  served: number;
  isHalfClosed: boolean;
}

function hold(socket: Socket, caller: Caller | undefined, onIdle: () => void): Held {
  const works = new Set<UnderWay>();
  const held: Held = {
    socket,
    caller,
    works,
    served: 0,
    isHalfClosed: false,
    // An accessor here would cost each connection half a kilobyte: V8 then keeps the object as a
    // dictionary.
    load: () => works.size,
    begin(work) {
      works.add(work);
      return () => {
        if (!works.delete(work)) return;
        held.served++;
        if (works.size === 0) onIdle();
      };
    },
  };
  return held;
}

/** Makes the list of connections. */
export function createConnections(
  { connectionsMax, headMs }: ProxyLimits,
  watch: Watch,
): Connections {
  const all = new Map<Socket, Held>();
  const waiters = new Set<() => void>();
  let draining = false;
  const forget = (socket: Socket): void => {
    all.delete(socket);
    if (all.size > 0) return;
    for (const tell of waiters) tell();
    waiters.clear();
  };
  return {
    get size(): number {
      return all.size;
    },
    add(socket, caller) {
      socket.on("error", () => {});
      if (all.size >= connectionsMax) return undefined;
      // What is written with the last answer goes out before the socket closes.
      const held = hold(socket, caller, () => {
        if (draining) setImmediate(() => held.works.size === 0 && socket.destroySoon());
      });
      all.set(socket, held);
      const unwatch = watch.add({
        progress: () => (held.works.size > 0 ? undefined : held.served),
        idleMs: headMs,
        onOver: () => void socket.destroy(),
      });
      // Told once each, without a wrapper that would see to it: there may be thousands of idle
      // ones.
      socket.on("end", () => {
        held.isHalfClosed = true;
        for (const work of held.works) work.onHalfClosed();
      });
      socket.on("close", () => {
        unwatch();
        for (const work of held.works) work.onClosed();
        forget(socket);
      });
      return held;
    },
    of: (socket) => all.get(socket),
    drain() {
      draining = true;
      for (const { socket, works } of all.values()) if (works.size === 0) socket.destroySoon();
    },
    cut() {
      for (const socket of all.keys()) socket.destroy();
    },
    gone: () =>
      all.size === 0 ? Promise.resolve() : new Promise((resolve) => void waiters.add(resolve)),
  };
}

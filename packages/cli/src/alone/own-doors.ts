/**
 * Own doors: the ports of this process, for one session after another: whoever connects between two
 * of them waits for the next.
 */
import { type Server, type Socket, createServer } from "node:net";
import { listenOnLoopback } from "@acp/host";
import type { Door, Doors } from "../resident/doors.js";

/** Ports that stay when a session ends. */
export interface OwnDoors extends Doors, AsyncDisposable {
  /** The session is over: from now on connections wait. */
  shut(): void;
}

/** Connections that wait for a session; one more is refused. */
const WAITING_MAX = 512;

interface Listening {
  readonly server: Server;
  port: number;
  take: Door["take"] | undefined;
  readonly waiting: Socket[];
}

/** None is open. */
export function createOwnDoors(): OwnDoors {
  const all = new Map<string, Listening>();
  return {
    held: new AbortController().signal,
    isGone: () => false,
    async open(doors) {
      const ports: number[] = [];
      for (const { name, port, take } of doors) {
        const at = all.get(name) ?? (await listen(port));
        all.set(name, at);
        at.take = take;
        for (const socket of at.waiting.splice(0)) take(socket);
        ports.push(at.port);
      }
      return ports;
    },
    shut() {
      for (const at of all.values()) at.take = undefined;
    },
    async [Symbol.asyncDispose]() {
      for (const { server, waiting } of all.values()) {
        for (const socket of waiting) socket.destroy();
        await new Promise<void>((resolve) => server.close(() => resolve()));
      }
    },
  };
}

async function listen(port: number): Promise<Listening> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
  const at: Listening = { server, port, take: undefined, waiting: [] };
  server.on("connection", (socket) => {
    socket.on("error", () => undefined);
    if (at.take !== undefined) at.take(socket);
    else if (at.waiting.length < WAITING_MAX) at.waiting.push(socket);
    else socket.destroy();
  });
  at.port = await listenOnLoopback(server, port);
  return at;
}

/**
 * Listen: the inbox on 127.0.0.1, for this user's own programs alone, or on a Unix socket of this user's, for a reverse proxy.
 */
import { chmod, lstat, rm } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import type { RequestListener } from "node:http";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { ConsentError } from "@acp/core";
import { acceptFrom } from "@acp/sandbox-linux";
import { isRefused } from "../mcp/stale-sockets.js";
import type { InboxPlace } from "./settings.js";

/** An inbox that listens. */
export interface Listening extends AsyncDisposable {
  /** 0 on a Unix socket. */
  readonly port: number;
}

/** Who listens, and who may come. */
export interface ListenParts {
  readonly place: InboxPlace;
  /** Whose connections over loopback are taken; `undefined`: everybody's, because somebody else stands in front. */
  readonly uid: number | undefined;
}

const HOST = "127.0.0.1";

/**
 * Listens.
 *
 * @throws ConsentError `options_invalid` where it cannot.
 */
export async function listen(listener: RequestListener, { place, uid }: ListenParts): Promise<Listening> {
  const http = createHttpServer(listener);
  const sockets = new Set<Socket>();
  const take = (socket: Socket): void => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    http.emit("connection", socket);
  };
  // An agent that is not in a sandbox runs, at best, as another user: the kernel's list of sockets says who opened a connection.
  const server = createServer(place.socketPath === undefined && uid !== undefined ? acceptFrom(uid, take) : take);
  if (place.socketPath !== undefined) await removeStale(place.socketPath);
  const where = place.socketPath ?? `${HOST} port ${place.port}`;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: Error) =>
      reject(new ConsentError("options_invalid", `Cannot listen on ${where}: ${cause.message}`, { cause })),
    );
    if (place.socketPath === undefined) server.listen({ host: HOST, port: place.port, exclusive: true }, resolve);
    else server.listen(place.socketPath, resolve);
  });
  if (place.socketPath !== undefined) await chmod(place.socketPath, 0o600);
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
      if (place.socketPath !== undefined) await rm(place.socketPath, { force: true });
    },
  };
}

/** What an inbox left that was killed. Another one that lives, and a file that is no socket, stay. */
async function removeStale(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() === true && (await isRefused(path))) await rm(path, { force: true });
}

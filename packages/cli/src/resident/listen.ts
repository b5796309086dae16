/**
 * Listen: a private Unix socket, in a folder that only this user can enter.
 */
import { chmod, unlink } from "node:fs/promises";
import { type Server, type Socket, createServer } from "node:net";

/** A socket that listens. Disposing of it ends it; connections are their owners'. */
export async function listenPrivately(
  path: string,
  connectionsMax: number,
  attend: (socket: Socket) => void,
): Promise<AsyncDisposable> {
  // Only who holds the lock of the resident gets here: what is there is a dead one's.
  await unlink(path).catch(() => undefined);
  const server: Server = createServer(attend);
  server.maxConnections = connectionsMax;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  await chmod(path, 0o600);
  return {
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

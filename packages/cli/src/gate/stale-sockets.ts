/**
 * Stale sockets: what gates that were killed left in `<home>/run`. Removed when the next gate
 * starts.
 */
import { readdir, stat, unlink } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";

/** A socket this young may be between its making and its first answer. */
const YOUNG_MS = 60_000;

/**
 * Removes sockets in a directory that nobody listens on. Never rejects: the sockets are only
 * untidy.
 */
export async function removeStaleSockets(directory: string, nowMs: number): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  await Promise.all(
    names
      .filter((name) => name.endsWith(".sock"))
      .map((name) => removeIfStale(join(directory, name), nowMs)),
  );
}

async function removeIfStale(path: string, nowMs: number): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isSocket() !== true || nowMs - found.mtimeMs < YOUNG_MS) return;
  if (await isRefused(path)) await unlink(path).catch(() => undefined);
}

/** Whether nobody listens on a socket: only a refused connection proves that. */
export function isRefused(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    const settle = (refused: boolean): void => {
      socket.destroy();
      resolve(refused);
    };
    socket.once("connect", () => settle(false));
    socket.once("error", (error: NodeJS.ErrnoException) => settle(error.code === "ECONNREFUSED"));
  });
}

/**
 * Lock: one writer for a log, for as long as its process lives.
 *
 * Who wants to write listens on a socket of its own beside the log, then looks for others; a socket that answers belongs to a live process,
 * one that refuses is left over and is removed. The kernel says who lives: no process id is trusted, none can be reused, and it holds across
 * containers that share the directory. Announcing before looking means that of two at least one sees the other.
 */
import { randomBytes } from "node:crypto";
import { readdir, stat, unlink } from "node:fs/promises";
import { type Server, connect, createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { cannot, busyError, causeText, hasErrno } from "./errors.js";

/** A held lock. */
export interface WriterLock {
  release(): Promise<void>;
}

/** Longer socket paths are cut off silently on some systems (sun_path). */
const SOCKET_PATH_BYTES_MAX = 103;
/** Two that start at the same moment see each other; each looks again after a while of its own. */
const ATTEMPTS = 5;
const ATTEMPT_WAIT_MS_MAX = 25;

/**
 * Makes this process the log's writer.
 *
 * @throws ConsentError `audit_busy`, naming the owner's process id, where another one is; `audit_failed` where there can be no lock.
 */
export async function lockWriter(path: string): Promise<WriterLock> {
  for (let attempt = 1; ; attempt++) {
    const own = `${basename(path)}.lock.${process.pid}.${randomBytes(4).toString("hex")}`;
    const server = await announce(path, own);
    const owner = await look(path, own).catch(async (error: unknown) => {
      await close(server);
      throw cannot("lock", path)(causeText(error), error);
    });
    if (owner === undefined) return { release: () => close(server) };
    await close(server);
    if (attempt >= ATTEMPTS) throw busyError(path, owner);
    await wait(Math.random() * ATTEMPT_WAIT_MS_MAX);
  }
}

async function announce(path: string, own: string): Promise<Server> {
  const socketPath = join(dirname(path), own);
  if (Buffer.byteLength(socketPath) > SOCKET_PATH_BYTES_MAX) throw cannot("open", path)("its path is too long for a lock beside it");
  const server = createServer((socket) => socket.destroy());
  server.unref();
  try {
    await new Promise<void>((resolve, reject) => {
      server.on("error", reject);
      server.listen(socketPath, resolve);
    });
  } catch (error) {
    throw cannot("lock", path)(causeText(error), error);
  }
  return server;
}

/** The process id in the name of a live socket that is not ours, or our own where somebody took our socket for a left-over one. */
async function look(path: string, own: string): Promise<string | undefined> {
  const directory = dirname(path);
  for (const name of await readdir(directory)) {
    const owner = name === own ? undefined : ownerIn(name, basename(path));
    if (owner === undefined) continue;
    if (await isAnswered(join(directory, name))) return owner;
    await unlink(join(directory, name)).catch(() => {});
  }
  // Whoever found it between the making of our socket and its first listening may have removed it.
  return (await exists(join(directory, own))) ? undefined : String(process.pid);
}

function ownerIn(name: string, logName: string): string | undefined {
  if (!name.startsWith(`${logName}.lock.`)) return undefined;
  return /^\.lock\.(\d+)\.[0-9a-f]{8}$/.exec(name.slice(logName.length))?.[1];
}

/** Only a refused connection proves that nobody lives there; whatever else goes wrong counts as alive. */
function isAnswered(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const settle = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", (error) => settle(!hasErrno(error, "ECONNREFUSED", "ENOENT")));
  });
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

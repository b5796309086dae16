/**
 * Socket lock: one holder for a name in a directory, for as long as its process lives.
 *
 * A process that wants the lock listens on a socket of its own in the directory, then looks for
 * others. A socket that answers belongs to a live process. One that refuses is left over, and is
 * removed. The holder says that it holds the lock; if two processes only want it, both step back.
 * The kernel says who is alive, so no process ID is trusted and none can be reused, and the lock
 * works across containers that share the directory. Because each process announces itself before it
 * looks, at least one of any two sees the other.
 */
import { randomBytes } from "node:crypto";
import { readdir, stat, unlink } from "node:fs/promises";
import { type Server, connect, createServer } from "node:net";
import { join } from "node:path";

/** A lock that this process holds. */
export interface SocketLock {
  /** Tells this result from {@link SocketLockBusy}. */
  readonly isHeld: true;
  /** Gives the lock up and removes its socket. */
  release(): Promise<void>;
}

/** Another live process announced itself, so this one stepped back. */
export interface SocketLockBusy {
  /** Tells this result from {@link SocketLock}. */
  readonly isHeld: false;
  /** The other process's ID, from its socket's name; `undefined` if the name has none. */
  readonly pid: string | undefined;
  /** True if that process holds the lock; false if it only wants it, as this one did. */
  readonly isHolder: boolean;
}

/** Where the lock is, and how long to wait for it. */
export interface SocketLockOptions {
  /** Directory of the sockets; every process that uses the lock names the same one. */
  readonly directory: string;
  /** Prefix of the sockets' names, such as `audit.jsonl.lock.`. */
  readonly prefix: string;
  /**
   * Milliseconds to wait for a live process to answer. One that stays silent longer has stopped or
   * hangs, and counts as the holder. Default: 2,000. With 0, every live process counts as the
   * holder.
   */
  readonly answerMsMax?: number;
}

/** Longer socket paths are cut off silently on some systems (sun_path). */
const SOCKET_PATH_BYTES_MAX = 103;
const ANSWER_MS_MAX = 2_000;
/** What the holder says to whoever connects. A process that only wants the lock says nothing. */
const HELD = "held";

/**
 * Tries once to take the lock; the caller decides whether to wait and try again.
 *
 * @returns The lock, or which process is in the way.
 * @throws Error from the system, or because the path is too long for a socket (103 bytes).
 */
export async function trySocketLock({
  directory,
  prefix,
  answerMsMax = ANSWER_MS_MAX,
}: SocketLockOptions): Promise<SocketLock | SocketLockBusy> {
  const own = `${prefix}${process.pid}.${randomBytes(4).toString("hex")}`;
  let isHolder = false;
  const server = await announce(join(directory, own), () => (isHolder ? HELD : ""));
  const other = await look({ directory, prefix, answerMsMax }, own).catch(
    async (error: unknown) => {
      await close(server);
      throw error;
    },
  );
  if (other !== undefined) {
    await close(server);
    return other;
  }
  isHolder = true;
  return { isHeld: true, release: () => close(server) };
}

async function announce(path: string, answer: () => string): Promise<Server> {
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) {
    throw new Error("its path is too long for a lock");
  }
  const server = createServer((socket) => {
    socket.on("error", () => {}); // the other side has gone
    socket.end(answer(), () => socket.destroy());
  });
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.listen(path, resolve);
  });
  return server;
}

/** The holder, another one that wants the lock, or ourselves if our socket was removed. */
async function look(
  { directory, prefix, answerMsMax }: Required<SocketLockOptions>,
  own: string,
): Promise<SocketLockBusy | undefined> {
  let found: SocketLockBusy | undefined;
  for (const name of await readdir(directory)) {
    const socket = name === own ? undefined : socketNamed(name, prefix);
    if (socket === undefined) continue;
    const state = await stateOf(join(directory, name), answerMsMax);
    if (state === "holder") return { isHeld: false, pid: socket.pid, isHolder: true };
    if (state === "wants") found = { isHeld: false, pid: socket.pid, isHolder: false };
    else await unlink(join(directory, name)).catch(() => {});
  }
  if (found !== undefined) return found;
  // Another process that found it between its making and its first listening may have removed it.
  const isThere = await stat(join(directory, own)).then(
    () => true,
    () => false,
  );
  return isThere ? undefined : { isHeld: false, pid: String(process.pid), isHolder: false };
}

/** Names without a process id are those of version 0.0 of the home's lock. */
function socketNamed(
  name: string,
  prefix: string,
): { readonly pid: string | undefined } | undefined {
  if (!name.startsWith(prefix)) return undefined;
  const groups = /^(?:(?<pid>\d+)\.[0-9a-f]{8}|[0-9a-f]{16})$/.exec(name.slice(prefix.length));
  return groups === null ? undefined : { pid: groups.groups?.["pid"] };
}

/** Only a refused connection proves that nobody lives there; any other failure counts as alive. */
function stateOf(path: string, answerMsMax: number): Promise<"holder" | "wants" | "gone"> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const settle = (state: "holder" | "wants" | "gone"): void => {
      clearTimeout(limit);
      socket.destroy();
      resolve(state);
    };
    // What came while this process itself stood still is heard before its silence counts.
    const limit = setTimeout(() => setImmediate(() => settle("holder")), answerMsMax);
    socket.once("data", () => settle("holder"));
    socket.once("close", () => settle("wants"));
    socket.once("error", (error) => settle(isRefusal(error) ? "gone" : "wants"));
  });
}

function isRefusal(error: Error): boolean {
  return "code" in error && (error.code === "ECONNREFUSED" || error.code === "ENOENT");
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

/**
 * Lock: one writer for a log, for as long as its process lives.
 *
 * Who wants to write listens on a socket of its own beside the log, then looks for others; a socket that answers belongs to a live process,
 * one that refuses is left over and is removed. The owner says that it is the owner; of two that only want to be it both step back. The kernel
 * says who lives: no process id is trusted, none can be reused, and it holds across containers that share the directory. Announcing before
 * looking means that of two at least one sees the other.
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
/** Two that start at the same moment see each other and both step back; each looks again after a while of its own, longer every time. */
const ATTEMPTS = 12;
const FIRST_WAIT_MS_MAX = 5;
const WAIT_MS_MAX = 250;
/** What the owner says to whoever connects. Who only wants to become it says nothing. */
const HELD = "held";
/** Who lives and says nothing for so long is stopped or hangs: it may be the owner. */
const ANSWER_MS_MAX = 2_000;

/**
 * Makes this process the log's writer.
 *
 * @throws ConsentError `audit_busy`, naming the owner's process id, where another one is; `audit_failed` where there can be no lock.
 */
export async function lockWriter(path: string): Promise<WriterLock> {
  for (let attempt = 1; ; attempt++) {
    const own = `${basename(path)}.lock.${process.pid}.${randomBytes(4).toString("hex")}`;
    let isOwner = false;
    const server = await announce(path, own, () => (isOwner ? HELD : ""));
    const other = await look(path, own).catch(async (error: unknown) => {
      await close(server);
      throw cannot("lock", path)(causeText(error), error);
    });
    if (other === undefined) {
      isOwner = true;
      return { release: () => close(server) };
    }
    await close(server);
    if (other.isOwner || attempt >= ATTEMPTS) throw busyError(path, other.pid);
    await wait(Math.random() * Math.min(WAIT_MS_MAX, FIRST_WAIT_MS_MAX * 2 ** attempt));
  }
}

async function announce(path: string, own: string, answer: () => string): Promise<Server> {
  const socketPath = join(dirname(path), own);
  if (Buffer.byteLength(socketPath) > SOCKET_PATH_BYTES_MAX) throw cannot("open", path)("its path is too long for a lock beside it");
  const server = createServer((socket) => {
    socket.on("error", () => {}); // whoever asked has gone
    socket.end(answer(), () => socket.destroy());
  });
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

/** A live process that has announced itself. */
interface Other {
  readonly pid: string;
  readonly isOwner: boolean;
}

/** The owner, or another one that wants to be it, or ourselves where somebody took our socket for a left-over one. */
async function look(path: string, own: string): Promise<Other | undefined> {
  const directory = dirname(path);
  let found: Other | undefined;
  for (const name of await readdir(directory)) {
    const pid = name === own ? undefined : ownerIn(name, basename(path));
    if (pid === undefined) continue;
    const state = await stateOf(join(directory, name));
    if (state === "owner") return { pid, isOwner: true };
    if (state === "wants") found = { pid, isOwner: false };
    else await unlink(join(directory, name)).catch(() => {});
  }
  // Whoever found it between the making of our socket and its first listening may have removed it.
  return found ?? ((await exists(join(directory, own))) ? undefined : { pid: String(process.pid), isOwner: false });
}

function ownerIn(name: string, logName: string): string | undefined {
  if (!name.startsWith(`${logName}.lock.`)) return undefined;
  return /^\.lock\.(\d+)\.[0-9a-f]{8}$/.exec(name.slice(logName.length))?.[1];
}

/** Only a refused connection proves that nobody lives there; whatever else goes wrong counts as alive. */
function stateOf(socketPath: string): Promise<"owner" | "wants" | "gone"> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    // What came while this process itself stood still is heard before its silence counts.
    const limit = setTimeout(() => setImmediate(() => settle("owner")), ANSWER_MS_MAX);
    const settle = (state: "owner" | "wants" | "gone"): void => {
      clearTimeout(limit);
      socket.destroy();
      resolve(state);
    };
    socket.once("data", () => settle("owner"));
    socket.once("close", () => settle("wants"));
    socket.once("error", (error) => settle(hasErrno(error, "ECONNREFUSED", "ENOENT") ? "gone" : "wants"));
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

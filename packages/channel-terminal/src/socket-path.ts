/**
 * Socket path: where the approve socket lies, and who may reach it. The directory is 0700 and the
 * socket 0600, both ours: that is the authentication. A socket that a dead process left is
 * replaced, a live one is not.
 */
import { chmod, lstat, mkdir, rm } from "node:fs/promises";
import { type Server, createConnection } from "node:net";
import { dirname } from "node:path";
import { ConsentError, quoteText } from "@acp/core";

/**
 * Bytes of a socket's path: the shortest bound of the systems we run on (macOS; Linux takes 107).
 */
const SOCKET_PATH_BYTES_MAX = 103;

function refuse(path: string, why: string, cause?: unknown): never {
  throw new ConsentError(
    "channel_failed",
    `Cannot open the approve socket ${quoteText(path)}: ${why}`,
    { cause },
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}

/** Whether a process listens there: `absent` (no file), `stale` (nobody listens) or `live`. */
export function probeSocket(path: string): Promise<"absent" | "stale" | "live"> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve("live");
    });
    socket.once("error", (error) => {
      socket.destroy();
      if (codeOf(error) === "ENOENT") resolve("absent");
      else if (codeOf(error) === "ECONNREFUSED") resolve("stale");
      else reject(error);
    });
  });
}

async function makePrivateDirectory(path: string): Promise<void> {
  const directory = dirname(path);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const found = await lstat(directory);
  const uid = process.getuid?.();
  if (!found.isDirectory()) refuse(path, "its directory is not a directory");
  if (uid !== undefined && found.uid !== uid)
    refuse(path, `its directory belongs to user ${found.uid}, not to ${uid}`);
  if ((found.mode & 0o077) !== 0)
    refuse(
      path,
      `other users can open its directory (mode ${(found.mode & 0o777).toString(8)}); run chmod 700 on it`,
    );
}

async function makeWay(path: string): Promise<void> {
  const state = await probeSocket(path).catch((error: unknown) =>
    refuse(path, "what is there does not answer as a socket", error),
  );
  if (state === "live") refuse(path, "another gate listens there");
  if (state === "absent") return;
  if (!(await lstat(path)).isSocket()) refuse(path, "a file that is not a socket has this name");
  await rm(path);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
}

/**
 * Makes `server` listen at `path`, for this user alone.
 *
 * @throws ConsentError `channel_failed` naming the path: a live socket is there, the directory is
 *   open to others, the path is too long.
 */
export async function listenPrivately(server: Server, path: string): Promise<void> {
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX)
    refuse(path, `a socket's path has at most ${SOCKET_PATH_BYTES_MAX} bytes`);
  try {
    await makePrivateDirectory(path);
    await makeWay(path);
    await listen(server, path);
    await chmod(path, 0o600);
  } catch (error) {
    if (error instanceof ConsentError) throw error;
    refuse(path, codeOf(error) === "" ? "the system refused" : codeOf(error), error);
  }
}

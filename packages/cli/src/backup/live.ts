/**
 * Live: which processes use a home, by the sockets that they listen on in it. A process ID alone
 * could be anybody's by now.
 */
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ConsentError, quoteText } from "@acp/core";
import { isRefused } from "../gate/stale-sockets.js";

/** A process that uses a home. Plain JSON data. */
export interface LiveProcess {
  /** Absent where its socket's name does not say it. */
  readonly pid?: number;
  /** Path of the socket in the home. */
  readonly socket: string;
}

const PID = /^(\d+)(?:-\d+)?\.sock$|\.lock\.(\d+)\.[0-9a-f]{8}$/;

/**
 * The sockets in a home, whoever listens.
 *
 * @throws ConsentError `home_invalid` where a folder of the home cannot be looked into.
 */
export async function socketsIn(dir: string): Promise<readonly LiveProcess[]> {
  const pending = (await namesIn(dir, "pending")).map((name) => `pending/${name}`);
  const found: LiveProcess[] = [];
  for (const folder of ["", "run", "servers", ...pending])
    for (const name of await namesIn(dir, folder)) {
      const socket = folder === "" ? name : `${folder}/${name}`;
      const stats = await lstat(join(dir, socket)).catch(() => undefined);
      if (stats?.isSocket() === true) found.push({ ...pidOf(name), socket });
    }
  return found;
}

/** The processes that use a home, besides this one. */
export async function liveIn(dir: string): Promise<readonly LiveProcess[]> {
  const live: LiveProcess[] = [];
  for (const each of await socketsIn(dir)) {
    const path = join(dir, each.socket);
    if (each.pid === process.pid || (await isRefused(path))) continue;
    const isThere = await lstat(path).then(
      () => true,
      () => false,
    );
    if (isThere) live.push(each);
  }
  return live;
}

/**
 * Refuses a home that processes use.
 *
 * @param what - What cannot be done, such as `restore`.
 * @throws ConsentError `home_busy`, naming the processes.
 */
export async function refuseLive(what: string, dir: string): Promise<void> {
  const live = await liveIn(dir);
  if (live.length > 0) throw busy(what, dir, live);
}

/** The error that names who uses a home. */
export function busy(what: string, dir: string, live: readonly LiveProcess[]): ConsentError {
  const pids = [...new Set(live.map(({ pid, socket }) => pid ?? socket))];
  const who = `${pids.length === 1 ? "process" : "processes"} ${pids.join(", ")}`;
  return new ConsentError(
    "home_busy",
    `Cannot ${what} ${quoteText(dir)}: ${who} ${pids.length === 1 ? "uses" : "use"} it; end your clients, acp approve and acp inbox, and run: acp resident stop`,
  );
}

function pidOf(name: string): Pick<LiveProcess, "pid"> {
  const match = PID.exec(name);
  const digits = match?.[1] ?? match?.[2];
  return digits === undefined ? {} : { pid: Number(digits) };
}

async function namesIn(dir: string, folder: string): Promise<readonly string[]> {
  return readdir(join(dir, folder)).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT" || cause.code === "ENOTDIR") return [];
    throw new ConsentError(
      "home_invalid",
      `Cannot look into ${quoteText(join(dir, folder))}: ${cause.message}; run: acp doctor`,
      { cause },
    );
  });
}

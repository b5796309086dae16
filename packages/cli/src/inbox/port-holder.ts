/**
 * Port holder: which programs listen on a port of this machine, as far as /proc shows it to this
 * user. Linux only; elsewhere nobody is named.
 */
import { readFile, readdir, readlink } from "node:fs/promises";
import { escapeText } from "@acp/core";

const LISTS: readonly string[] = ["/proc/net/tcp", "/proc/net/tcp6"];
const LISTENING = "0A";
const COMMAND_CHARS_MAX = 100;

/** A socket that listens. */
export interface Listener {
  /** User ID of whoever opened it, as digits. */
  readonly uid: string;
  /** The socket's number in the kernel, as digits: another socket has another one. */
  readonly inode: string;
}

/**
 * A line: number, own address and port, the other's, state, two queues, two timers,
 * retransmissions, uid, time-out, inode.
 */
function listenerIn(line: string, port: string): Listener | undefined {
  const [, local = "", , state, , , , uid = "", , inode = ""] = line.trim().split(/\s+/u);
  return state === LISTENING && local.endsWith(`:${port}`) ? { uid, inode } : undefined;
}

/** Everything that listens on a port, at whatever address. */
export async function listenersOn(port: number): Promise<readonly Listener[]> {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const texts = await Promise.all(LISTS.map((path) => readFile(path, "latin1").catch(() => "")));
  return texts.flatMap((text) => text.split("\n")).flatMap((line) => listenerIn(line, hex) ?? []);
}

async function holds(pid: string, inode: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => []);
  const links = await Promise.all(
    names.map((name) => readlink(`${folder}/${name}`).catch(() => "")),
  );
  return links.includes(`socket:[${inode}]`);
}

/** The process that has a socket open; other users' are hidden from everybody but root. */
async function processWith(inode: string): Promise<string | undefined> {
  for (const pid of (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name)))
    if (await holds(pid, inode)) return pid;
  return undefined;
}

/** The first who listens on a port, for a person; `undefined` where nothing shows it. */
export async function describePortHolder(port: number): Promise<string | undefined> {
  const [listener] = await listenersOn(port);
  return listener === undefined ? undefined : describeListener(listener);
}

/** Whose a listener is, for a person. */
export async function describeListener(listener: Listener): Promise<string> {
  const pid = await processWith(listener.inode);
  if (pid === undefined) return `a process of the user with uid ${listener.uid}`;
  const command = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""))
    .replaceAll("\u0000", " ")
    .trim();
  return `process ${pid} of uid ${listener.uid} (${escapeText(command).slice(0, COMMAND_CHARS_MAX)})`;
}

/**
 * Session: every process that a command started, found by the session that its shell leads. A process group is not enough: `timeout 60 x` and
 * `set -m` make groups of their own. Only a process that makes a session of its own (setsid) gets away; a sandbox is what stops that.
 */
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";

/** How long processes have to end by themselves before they are killed. */
const GRACE_MS = 2_000;
/** How often to look whether they have. */
const LOOK_MS = 10;
/** How long to look for what was killed: the system takes a moment. */
const KILLED_MS = 5_000;
const DIGITS = /^\d+$/;

/** Live processes of a session, or `undefined` where the system has no `/proc` to look them up in. */
async function membersOf(session: number): Promise<readonly number[] | undefined> {
  if (process.platform !== "linux") return undefined;
  const names = await readdir("/proc");
  const found = await Promise.all(names.filter((name) => DIGITS.test(name)).map((name) => isMember(name, session)));
  return found.filter((pid) => pid !== undefined);
}

/** The process where it is alive and of the session. */
async function isMember(name: string, session: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${name}/stat`, "latin1").catch(() => "");
  // `pid (name) state parent group session …`: the name is the process's own and can hold anything, brackets and blanks too.
  const [state, , , sessionId] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state !== "Z" && state !== "X" && Number(sessionId) === session ? Number(name) : undefined;
}

/** Sends a signal; false where nobody is there to get it. */
function signalTo(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    // No permission is an answer of somebody who is there.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Sends a signal to all of a session; false where nobody is left. */
async function signalAll(session: number, signal: NodeJS.Signals | 0): Promise<boolean> {
  const members = await membersOf(session);
  if (members === undefined) return signalTo(-session, signal);
  if (signal !== 0) for (const pid of members) signalTo(pid, signal);
  return members.length > 0;
}

/** Whether nobody is left within the time. */
async function isEmptyWithin(session: number, ms: number, signal: NodeJS.Signals | 0): Promise<boolean> {
  const endMs = performance.now() + ms;
  for (;;) {
    if (!(await signalAll(session, signal))) return true;
    if (performance.now() >= endMs) return false;
    await wait(LOOK_MS);
  }
}

/**
 * Ends every process of a session: asks, waits a moment, then kills.
 *
 * @returns Whether nobody is left.
 */
export async function endSession(session: number): Promise<boolean> {
  if (!(await signalAll(session, "SIGTERM"))) return true;
  if (await isEmptyWithin(session, GRACE_MS, 0)) return true;
  // Again and again: what is being killed may start another one.
  return isEmptyWithin(session, KILLED_MS, "SIGKILL");
}

/**
 * Session: every process that a command started, found by the session that its shell leads. A
 * process group is not enough: `timeout 60 x` and `set -m` make groups of their own. Only a process
 * that makes a session of its own (setsid) gets away; a sandbox is what stops that.
 */
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { statFields } from "@acp/host";

/** How long processes have to end by themselves before they are killed. */
const GRACE_MS = 2_000;
/** How often to look whether they have. */
const LOOK_MS = 10;
/** How long to look for what was killed: the system takes a moment. */
const KILLED_MS = 5_000;
const DIGITS = /^\d+$/;
/** What a look at a process that has gone says. */
const GONE: readonly unknown[] = ["ENOENT", "ESRCH"];
/** Processes looked at together: each takes a file descriptor, and there may be thousands. */
const LOOKS_MAX = 32;

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;

/**
 * Live processes of a session, or `undefined` where the system has no `/proc` to look them up in,
 * or does not let us.
 */
async function membersOf(session: number): Promise<readonly number[] | undefined> {
  if (process.platform !== "linux") return undefined;
  const members: number[] = [];
  try {
    const names = (await readdir("/proc")).filter((name) => DIGITS.test(name));
    for (let at = 0; at < names.length; at += LOOKS_MAX) {
      const found = await Promise.all(
        names.slice(at, at + LOOKS_MAX).map((name) => isMember(name, session)),
      );
      members.push(...found.filter((pid) => pid !== undefined));
    }
    return members;
  } catch {
    return undefined;
  }
}

/** The process where it is alive and of the session. */
async function isMember(name: string, session: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${name}/stat`, "latin1").catch((error: unknown) => {
    if (GONE.includes(codeOf(error))) return "";
    // INVARIANT: what could not be looked at is not taken for gone.
    throw error;
  });
  const [state, , , sessionId] = statFields(stat);
  return state !== "Z" && state !== "X" && Number(sessionId) === session ? Number(name) : undefined;
}

/** Sends a signal; false where nobody is there to get it. */
function signalTo(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    // No permission is an answer of somebody who is there.
    return codeOf(error) === "EPERM";
  }
}

/**
 * Sends a signal to all of a session, or to its leader's group where nobody can be looked up; false
 * where nobody is left.
 */
async function signalAll(session: number, signal: NodeJS.Signals | 0): Promise<boolean> {
  const members = await membersOf(session);
  if (members === undefined) return signalTo(-session, signal);
  if (signal !== 0) for (const pid of members) signalTo(pid, signal);
  return members.length > 0;
}

/** Whether nobody is left within the time. */
async function isEmptyWithin(
  session: number,
  ms: number,
  signal: NodeJS.Signals | 0,
): Promise<boolean> {
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

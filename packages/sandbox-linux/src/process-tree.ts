/**
 * Process tree: which processes there are, who started whom, and whether one is still the one it
 * was. Reads /proc only.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { statFields } from "@acp/host";

/** A process that cannot be mistaken for a later one with the same pid. */
export interface ProcessMark {
  readonly pid: number;
  /** Start time in clock ticks since boot: field 22 of /proc/PID/stat. */
  readonly start: string;
}

/** What /proc/PID/stat says of a process. */
interface ProcessStat {
  readonly state: string;
  readonly parent: number;
  readonly start: string;
}

/**
 * The process as it is now; `undefined` where there is none, or only a zombie that waits for its
 * parent.
 */
export function markProcess(pid: number): ProcessMark | undefined {
  const stat = readStat(pid);
  return stat === undefined || isDead(stat) ? undefined : { pid, start: stat.start };
}

/** Whether the very process still runs. */
export function isRunning({ pid, start }: ProcessMark): boolean {
  return markProcess(pid)?.start === start;
}

/**
 * This pid namespace, as a number: pids of two processes can be compared only where it is the same.
 */
export function pidNamespace(): string {
  return readlinkSync("/proc/self/ns/pid").replace(/\D/gu, "");
}

/**
 * The pids of the processes that a process started (or took over) and that are not dead, in
 * ascending order.
 */
export function childrenOf(pid: number): readonly number[] {
  return livePidsByParent().get(pid) ?? [];
}

/** The pid of the process that started a process, or took it over. */
export function parentOf(pid: number): number | undefined {
  return readStat(pid)?.parent;
}

/**
 * The pids of everything below a process, parents before their children. Not the process itself.
 */
export function descendantsOf(pid: number): readonly number[] {
  const byParent = livePidsByParent();
  const found = [...(byParent.get(pid) ?? [])];
  // the loop goes on over what it adds
  for (const each of found) found.push(...(byParent.get(each) ?? []));
  return found;
}

/** Processes with a text in their command line, besides this one. */
export function processesNaming(text: string): readonly number[] {
  return allPids().filter(
    (pid) => pid !== process.pid && readOptional(`/proc/${pid}/cmdline`)?.includes(text) === true,
  );
}

/**
 * Kills a process and everything below it, and waits until they are gone. The process is stopped
 * first: what it would start between our look and its death would be nobody's child.
 */
export async function endTree(root: ProcessMark): Promise<void> {
  signalProcess(root, "SIGSTOP");
  await until(() => !isRunning(root) || ["T", "t"].includes(readStat(root.pid)?.state ?? ""));
  const marks = [...descendantsOf(root.pid), root.pid]
    .map(markProcess)
    .filter((mark) => mark !== undefined);
  for (const mark of marks) signalProcess(mark, "SIGKILL");
  await until(() => !marks.some(isRunning));
}

/** Resolves when a process is gone. */
export async function gone(mark: ProcessMark): Promise<void> {
  await until(() => !isRunning(mark));
}

const LOOK_AGAIN_MS = 5;

/**
 * Bounded by the kernel, not by us: a process that was sent SIGKILL goes away, unless it hangs in a
 * device; then there is nothing else to do.
 */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(LOOK_AGAIN_MS);
}

/** Sends a signal; false where there is no such process, or it is another one by now. */
export function signalProcess(mark: ProcessMark, signal: NodeJS.Signals): boolean {
  if (!isRunning(mark)) return false;
  try {
    return process.kill(mark.pid, signal);
  } catch {
    return false;
  }
}

function livePidsByParent(): ReadonlyMap<number, readonly number[]> {
  const byParent = new Map<number, number[]>();
  for (const pid of allPids()) {
    const stat = readStat(pid);
    if (stat === undefined || isDead(stat)) continue;
    const siblings = byParent.get(stat.parent);
    if (siblings === undefined) byParent.set(stat.parent, [pid]);
    else siblings.push(pid);
  }
  return byParent;
}

function allPids(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .map(Number);
}

function isDead({ state }: ProcessStat): boolean {
  return state === "Z" || state === "X";
}

function readStat(pid: number): ProcessStat | undefined {
  const text = readOptional(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = statFields(text);
  const [state, parent] = fields;
  const start = fields[19];
  return state === undefined || parent === undefined || start === undefined
    ? undefined
    : { state, parent: Number(parent), start };
}

/** A process may go away at any moment, and some files are not ours to read. */
function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/**
 * Process tree: which processes there are, who started whom, and whether one is still the one it was. Reads /proc only.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

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

/** The process as it is now; `undefined` where there is none, or only a zombie that waits for its parent. */
export function markProcess(pid: number): ProcessMark | undefined {
  const stat = readStat(pid);
  return stat === undefined || isDead(stat) ? undefined : { pid, start: stat.start };
}

/** Whether the very process still runs. */
export function isRunning({ pid, start }: ProcessMark): boolean {
  return markProcess(pid)?.start === start;
}

/** This pid namespace, as a number: pids of two processes can be compared only where it is the same. */
export function pidNamespace(): string {
  return readlinkSync("/proc/self/ns/pid").replace(/\D/gu, "");
}

/** The pids of the processes that a process started (or took over) and that are not dead, in ascending order. */
export function childrenOf(pid: number): readonly number[] {
  return livePidsByParent().get(pid) ?? [];
}

/** The pids of everything below a process, parents before their children. Not the process itself. */
export function descendantsOf(pid: number): readonly number[] {
  const byParent = livePidsByParent();
  const found = [...(byParent.get(pid) ?? [])];
  for (const each of found) found.push(...(byParent.get(each) ?? [])); // the loop goes on over what it adds
  return found;
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
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    const stat = Number.isInteger(pid) ? readStat(pid) : undefined;
    if (stat === undefined || isDead(stat)) continue;
    const siblings = byParent.get(stat.parent);
    if (siblings === undefined) byParent.set(stat.parent, [pid]);
    else siblings.push(pid);
  }
  return byParent;
}

function isDead({ state }: ProcessStat): boolean {
  return state === "Z" || state === "X";
}

/** The second field is the program's name in parentheses and may hold anything, parentheses too: count from the last one. */
function readStat(pid: number): ProcessStat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, parent] = fields;
  const start = fields[19];
  return state === undefined || parent === undefined || start === undefined ? undefined : { state, parent: Number(parent), start };
}

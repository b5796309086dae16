/**
 * Watchdog: runs synchronous work that others' data steers (regular expressions, recursive
 * schemas), and stops it when its time is over. V8 interrupts loops and backtracking alike; no
 * other bound covers both.
 */
import { createContext, Script } from "node:vm";

/** What {@link runWithin} gives. */
export type WatchedResult<T> =
  | { readonly ended: true; readonly value: T }
  | { readonly ended: false };

const box: { job: () => void } = { job: () => {} };
createContext(box);
const script: Script = new Script("job()");

/** How many times the limit may pass on a machine that gives this process no time. */
const STARVED_TIMES_MAX = 8;

/**
 * Runs `work` for at most `ms`; costs about 40 µs. What `work` throws is thrown. Where the time
 * passed without this process having had the processor for so long, the work begins anew and gets
 * twice the time.
 */
export function runWithin<T>(work: () => T, ms: number): WatchedResult<T> {
  for (let times = 1; ; times *= 2) {
    const before = process.cpuUsage();
    const result = attempt(work, ms * times);
    if (result.ended || times >= STARVED_TIMES_MAX) return result;
    if (cpuMsSince(before) >= ms) return result;
  }
}

/** Processor time of this process since then, in milliseconds, all of its threads included. */
export function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / MICROS_PER_MS;
}

const MICROS_PER_MS = 1_000;

function attempt<T>(work: () => T, ms: number): WatchedResult<T> {
  let result: WatchedResult<T> = { ended: false };
  box.job = () => {
    result = { ended: true, value: work() };
  };
  try {
    script.runInContext(box, { timeout: ms });
  } catch (error) {
    if (!isTimeout(error)) throw error;
  } finally {
    box.job = () => {};
  }
  return result;
}

/** The error belongs to the script's own realm, so it is no instance of our Error. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"
  );
}

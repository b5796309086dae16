/**
 * Descriptors: what a child would inherit beyond its standard streams. Node marks its own
 * descriptors close-on-exec; those that it was itself started with (by a shell, a service manager,
 * a test runner) it leaves open, and they would reach the agent.
 */
import { closeSync, constants, openSync, readdirSync, readFileSync } from "node:fs";
import type { StdioOptions } from "node:child_process";

type StdioArray = Exclude<StdioOptions, string>;

const O_CLOEXEC = 0o2000000;

/** Descriptors above 2 that every child of this process inherits, in ascending order. */
export function inheritedDescriptors(): readonly number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => fd > 2 && isInherited(fd))
    .sort((a, b) => a - b);
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/mu.exec(
      readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"),
    )?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    return false; // the descriptor that the listing itself was read with
  }
}

/**
 * Calls `start` with a list for `spawn` that has an empty file in the place of each inherited
 * descriptor that `stdio` does not use itself. (An `"ignore"` above 2 would leave what is there.)
 */
export function coverInherited<T>(
  stdio: StdioArray,
  start: (covered: StdioArray) => T,
  inherited: readonly number[] = inheritedDescriptors(),
): T {
  if (inherited.every((fd) => fd < stdio.length)) return start(stdio);
  const empty = openSync("/dev/null", constants.O_RDWR);
  try {
    const length = Math.max(...inherited) + 1;
    return start(
      Array.from({ length }, (_, fd) => stdio[fd] ?? (inherited.includes(fd) ? empty : "ignore")),
    );
  } finally {
    closeSync(empty);
  }
}

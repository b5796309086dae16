/**
 * Descriptors: what a child would inherit beyond its standard streams. Node marks its own descriptors close-on-exec; those that it was
 * itself started with (by a shell, a service manager, a test runner) it leaves open, and they would reach the agent.
 */
import { readdirSync, readFileSync } from "node:fs";
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
    const flags = /^flags:\s*([0-7]+)$/mu.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    return false; // the descriptor that the listing itself was read with
  }
}

/** The same list for `spawn`, with an empty file in the place of each inherited descriptor that it does not use itself. */
export function coverInherited(stdio: StdioArray, inherited: readonly number[] = inheritedDescriptors()): StdioArray {
  const last = inherited.at(-1) ?? 0;
  return Array.from({ length: Math.max(stdio.length, last + 1) }, (_, fd) => stdio[fd] ?? "ignore");
}

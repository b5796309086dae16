/** Processes of a uid: what of a system user runs. Reads /proc only; sees what is in this pid namespace and below. */
import { readdirSync, readFileSync } from "node:fs";

/** Pids of live processes that have the uid in any of its four roles (real, effective, saved, file system). */
export function processesOf(uid: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .filter((pid) => isOf(pid, uid))
    .map(Number);
}

function isOf(pid: string, uid: number): boolean {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return false; // it ended
  }
  const state = /^State:\t(\S)/mu.exec(status)?.[1];
  const uids = /^Uid:\t(.*)$/mu.exec(status)?.[1]?.split("\t").map(Number) ?? [];
  return state !== "Z" && state !== "X" && uids.includes(uid);
}

/**
 * Processes of a uid: what of a system user runs. Reads /proc only; sees what is in this pid
 * namespace and below.
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ConsentError, quoteText } from "@acp/core";
import type { AgentUser } from "./parts.js";

const GOING_ATTEMPTS = 100;
const GOING_PAUSE_MS = 20;

/**
 * Pids of live processes that have the uid in any of its four roles (real, effective, saved, file
 * system).
 */
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

/**
 * Refuses a user of whom something runs: a connection that is older than the rules loses its uid
 * when it is closed with data in it, and the data goes out. Call it when the rules are in force:
 * what starts later is held by them. What was killed a moment ago gets the time to go.
 *
 * @param attempts - How often to look, {@link GOING_PAUSE_MS} apart.
 * @throws ConsentError `sandbox_unavailable` with the fix.
 */
export async function refuseRunning(
  { uid, name }: AgentUser,
  attempts: number = GOING_ATTEMPTS,
): Promise<void> {
  let pids = processesOf(uid);
  for (let attempt = 0; attempt < attempts && pids.length > 0; attempt += 1) {
    await sleep(GOING_PAUSE_MS);
    pids = processesOf(uid);
  }
  if (pids.length === 0) return;
  const shown = `${pids.slice(0, 5).join(", ")}${pids.length > 5 ? ", …" : ""}`;
  throw new ConsentError(
    "sandbox_unavailable",
    `Cannot start an agent as ${quoteText(name)}: processes of that user run already (${shown}) and may hold connections; end them first`,
  );
}

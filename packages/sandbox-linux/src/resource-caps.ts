/**
 * Resource caps: how much an agent and all that it starts may use. Rlimits hold for a process, control groups for all of them together.
 */
import { readFile, rmdir, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { basename } from "node:path";

/** Names of our control groups begin with this. */
export const CGROUP_PREFIX = "acp-";

const REMOVAL_ATTEMPTS = 100;
const REMOVAL_PAUSE_MS = 20;

/** Kills what is left in a control group and removes it; false where that did not work, true where there is none. */
export async function removeCgroup(path: string): Promise<boolean> {
  if (!path.startsWith("/sys/fs/cgroup/") || path.includes("/../") || !basename(path).startsWith(CGROUP_PREFIX)) return false;
  for (let attempt = 0; attempt < REMOVAL_ATTEMPTS; attempt += 1) {
    await writeFile(`${path}/cgroup.kill`, "1").catch(() => killEach(path)); // version 1, and old kernels, have no cgroup.kill
    const removal = await rmdir(path).then(
      () => "ENOENT",
      (error: unknown) => (error instanceof Error && "code" in error ? error.code : undefined),
    );
    if (removal === "ENOENT") return true;
    await sleep(REMOVAL_PAUSE_MS); // a killed process leaves its group only when it is gone
  }
  return false;
}

async function killEach(path: string): Promise<void> {
  const pids = await readFile(`${path}/cgroup.procs`, "utf8").catch(() => "");
  for (const pid of pids.split("\n").filter((line) => line !== "")) {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // gone by itself
    }
  }
}

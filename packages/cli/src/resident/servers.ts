/**
 * Servers: the processes that a resident has started, noted in files so that the next one can make
 * sure that they are gone before it starts its own. A server that goes on after its resident would
 * still do what it was told. Format: spec/resident.md §5.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ConsentError } from "@acp/core";
import { statFields } from "@acp/host";

/** The servers of the resident that runs. */
export interface Servers {
  /** Notes the process of a server; what it returns forgets it again. */
  note(pid: number): () => void;
}

const LOOK_EVERY_MS = 20;
const GONE_MS_MAX = 5_000;

/**
 * Ends what an earlier resident of the home left running, and notes what this one starts. Only for
 * who has the home's lock.
 *
 * @param run - `<home>/run`.
 * @throws ConsentError `home_busy` where one of them does not end.
 */
export async function openServers(run: string): Promise<Servers> {
  const directory = join(run, "servers");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(directory).filter((each) => /^\d+$/.test(each))) {
    await endGroup(Number(name), readFileSync(join(directory, name), "utf8"));
    rmSync(join(directory, name), { force: true });
  }
  return {
    note(pid) {
      const path = join(directory, String(pid));
      writeFileSync(path, startOf(pid) ?? "", { mode: 0o600 });
      return () => {
        if (!isGroupThere(pid)) rmSync(path, { force: true });
      };
    },
  };
}

/** Kills a process group, unless its number is somebody else's by now. */
async function endGroup(pid: number, noted: string): Promise<void> {
  if (noted === "" || !isSame(pid, noted)) return;
  const endMs = performance.now() + GONE_MS_MAX;
  for (;;) {
    if (!isGroupThere(pid, "SIGKILL")) return;
    if (performance.now() > endMs)
      throw new ConsentError(
        "home_busy",
        `A server of an earlier resident does not end: process group ${pid}`,
      );
    await wait(LOOK_EVERY_MS);
  }
}

/**
 * Whether it is the process that was noted. While its group has members, the number is nobody else's
 * even where the process itself is gone.
 */
function isSame(pid: number, noted: string): boolean {
  const now = startOf(pid);
  return now === undefined ? noted.startsWith(bootId()) : now === noted;
}

function isGroupThere(pid: number, signal: "SIGKILL" | 0 = 0): boolean {
  try {
    process.kill(-pid, signal);
    return !isAllZombies(pid);
  } catch {
    return false;
  }
}

/** Of the machine's boot and the process's start; undefined where that cannot be known. */
function startOf(pid: number): string | undefined {
  const started = fieldsOf(pid)?.[19];
  return started === undefined ? undefined : `${bootId()} ${started}`;
}

/** Only Linux has both; elsewhere a server ends with its standard input. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

/** Nobody may have waited for it yet; it does nothing any more. */
function isAllZombies(group: number): boolean {
  const state = fieldsOf(group)?.[0];
  return state === "Z" && !membersOf(group).some((pid) => fieldsOf(pid)?.[0] !== "Z");
}

const membersOf = (group: number): readonly number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => fieldsOf(pid)?.[2] === String(group));

/** What /proc says of a process; undefined where there is none. */
function fieldsOf(pid: number): readonly string[] | undefined {
  try {
    return statFields(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
}

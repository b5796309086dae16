/**
 * Resource caps: how much an agent and all that it starts may use. Rlimits hold for a process and
 * the count of processes; control groups hold for all of them together, where the host has them and
 * lets us.
 */
import { accessSync, constants, readFileSync } from "node:fs";
import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ConsentError, type SandboxItem } from "@acp/core";
import type { ConfinementOptions, ResourceCaps, Session } from "./parts.js";
import { statOptional } from "./stat-optional.js";

/**
 * Caps where the caller sets none: enough for builds and a browser, not for a fork bomb or a full
 * disk.
 */
export const DEFAULT_CAPS: ResourceCaps = {
  processes: 1024,
  memoryBytes: 4 * 2 ** 30,
  scratchBytes: 512 * 2 ** 20,
  openFiles: 4096,
};

/** Names of our control groups begin with this. */
export const CGROUP_PREFIX = "acp-";

/** Control groups that hold an agent. */
export interface CapGroups {
  readonly paths: readonly string[];
  readonly limitsProcesses: boolean;
  readonly limitsMemory: boolean;
  /** Moves processes in; what they start later is in as well. */
  add(pids: readonly number[]): Promise<void>;
  /** Kills what is left in them and removes them. */
  remove(): Promise<void>;
}

const REMOVAL_ATTEMPTS = 100;
const REMOVAL_PAUSE_MS = 20;
const ROOT = "/sys/fs/cgroup";
const PRLIMIT = ["/usr/bin/prlimit", "/bin/prlimit"];

/**
 * The caps in force.
 *
 * @throws ConsentError `options_invalid` for a cap that is not a whole number above 0.
 */
export function parseCaps(caps: ConfinementOptions["caps"] = {}): ResourceCaps {
  const all = { ...DEFAULT_CAPS, ...caps };
  for (const [name, value] of Object.entries(all)) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new ConsentError(
        "options_invalid",
        `Cannot cap ${name} at "${value}": not a whole number above 0`,
      );
    }
  }
  return all;
}

/**
 * The start of a command line that sets the rlimits, to be run inside: in a user namespace of its
 * own the kernel counts only the processes there. Empty where the host has no prlimit.
 */
export function rlimitCommand({
  processes,
  openFiles,
  processMemoryBytes,
}: ResourceCaps): readonly string[] {
  const prlimit = PRLIMIT.find((path) => statOptional(path) !== undefined);
  if (prlimit === undefined) return [];
  // only root may go above
  const most = (cap: number, name: string): number => Math.min(cap, hardLimit(name));
  const data =
    processMemoryBytes === undefined ? [] : [`--data=${most(processMemoryBytes, "Max data size")}`];
  return [
    prlimit,
    `--nproc=${most(processes, "Max processes")}`,
    `--nofile=${most(openFiles, "Max open files")}`,
    ...data,
    "--core=0",
    "--",
  ];
}

/**
 * The caps that are rlimits: of memory only where no group limits that of all, whose limit breaks
 * nothing that asks for more than it uses.
 */
export function rlimitsOf(
  caps: ResourceCaps,
  groups: Pick<CapGroups, "limitsMemory">,
): ResourceCaps {
  const { processMemoryBytes: _, ...rest } = caps;
  return groups.limitsMemory ? rest : caps;
}

/** What the report says of memory. */
export function memoryText(
  { memoryBytes, processMemoryBytes }: ResourceCaps,
  limitsMemory: boolean,
  hasRlimits = true,
): string {
  if (limitsMemory) return `${memoryBytes} bytes of memory`;
  return processMemoryBytes === undefined || !hasRlimits
    ? "memory is not limited"
    : `memory per process: ${processMemoryBytes} bytes`;
}

function hardLimit(name: string): number {
  const line = readFileSync("/proc/self/limits", "utf8")
    .split("\n")
    .find((each) => each.startsWith(name));
  const hard = line?.slice(name.length).trim().split(/\s+/u)[1];
  return hard === undefined || hard === "unlimited" ? Number.POSITIVE_INFINITY : Number(hard);
}

/**
 * Makes control groups as far as the host lets us: below our own group, or (version 2) beside it
 * where ours has no controllers to give.
 */
export async function createCapGroups(session: Session, caps: ResourceCaps): Promise<CapGroups> {
  const name = `${CGROUP_PREFIX}${session.id}`;
  const candidates = groupParents(readFileSync("/proc/self/cgroup", "utf8")).map((parent) =>
    join(parent, name),
  );
  // before they exist: a crash in between leaves nothing unknown
  await session.record({ cgroups: candidates });
  const paths: string[] = [];
  const set = new Set<Limit>();
  for (const path of candidates) {
    const found = await makeGroup(path, caps, set);
    for (const limit of found) set.add(limit);
    if (found.length > 0) paths.push(path);
    else await removeCgroup(path);
  }
  await session.record({ cgroups: paths });
  return {
    paths,
    limitsProcesses: set.has("processes"),
    limitsMemory: set.has("memory"),
    add: async (pids) => {
      for (const path of paths)
        for (const pid of pids) await writeFile(join(path, "cgroup.procs"), String(pid));
    },
    remove: async () => {
      await Promise.all(paths.map((path) => removeCgroup(path)));
    },
  };
}

type Limit = "processes" | "memory";

/** Makes a group and sets the limits that it has a file for and that no other group has yet. */
async function makeGroup(
  path: string,
  caps: ResourceCaps,
  has: ReadonlySet<Limit>,
): Promise<readonly Limit[]> {
  const set = async (file: string, value: number): Promise<boolean> =>
    await writeExisting(join(path, file), String(value));
  try {
    await mkdir(path);
  } catch {
    return []; // not ours to make groups in, whatever its mode says
  }
  const processes = !has.has("processes") && (await set("pids.max", caps.processes));
  const memory =
    !has.has("memory") &&
    ((await set("memory.max", caps.memoryBytes)) ||
      (await set("memory.limit_in_bytes", caps.memoryBytes)));
  // Swap counts too, where it is counted at all.
  if (memory)
    await Promise.all([
      set("memory.swap.max", 0),
      set("memory.memsw.limit_in_bytes", caps.memoryBytes),
    ]);
  return [...(processes ? (["processes"] as const) : []), ...(memory ? (["memory"] as const) : [])];
}

/** What the report says of it. */
export function capsItem(
  { limitsProcesses, limitsMemory }: Pick<CapGroups, "limitsProcesses" | "limitsMemory">,
  caps: ResourceCaps,
  hasRlimits: boolean,
): SandboxItem {
  const parts = [
    hasRlimits || limitsProcesses
      ? `at most ${caps.processes} processes`
      : "processes are not limited",
    hasRlimits
      ? `${caps.openFiles} open files a process, no core dumps`
      : "open files are not limited",
    memoryText(caps, limitsMemory, hasRlimits),
    // as memory they count
    `${caps.scratchBytes} bytes in each private file system${limitsMemory ? "" : ", whose number of files is not limited"}`,
  ];
  const isWhole = hasRlimits && limitsMemory;
  const fix = hasRlimits
    ? "Run the manager as root, or with a control group delegated to it that has a memory controller"
    : "Install a C compiler, or prlimit (package util-linux)";
  return {
    aspect: "resource_caps",
    enforcement: isWhole ? "enforced" : "partial",
    reason: parts.join(", "),
    ...(isWhole ? {} : { fix }),
  };
}

/**
 * Kills what is left in a control group and removes it; false where that did not work, true where
 * there is none.
 */
export async function removeCgroup(path: string): Promise<boolean> {
  if (
    !path.startsWith(`${ROOT}/`) ||
    path.split("/").includes("..") ||
    !basename(path).startsWith(CGROUP_PREFIX)
  )
    return false;
  for (let attempt = 0; attempt < REMOVAL_ATTEMPTS; attempt += 1) {
    // version 1, and old kernels, have no cgroup.kill
    await writeFile(`${path}/cgroup.kill`, "1").catch(() => killEach(path));
    const removal = await rmdir(path).then(
      () => "ENOENT",
      (error: unknown) => (error instanceof Error && "code" in error ? error.code : undefined),
    );
    if (removal === "ENOENT") return true;
    await sleep(REMOVAL_PAUSE_MS); // a killed process leaves its group only when it is gone
  }
  return false;
}

/**
 * Directories in which a group of ours could get limits. Version 1: our own group of each
 * hierarchy. Version 2: our own, and the one above, since a group that has processes itself has no
 * controllers to give.
 *
 * @param membership - Text of /proc/self/cgroup.
 */
export function groupParents(membership: string, root: string = ROOT): readonly string[] {
  const lines = membership.split("\n").flatMap((line) => {
    const [, id, controllers, path] = /^(\d+):([^:]*):(\/.*)$/u.exec(line) ?? [];
    return id === undefined || controllers === undefined || path === undefined
      ? []
      : [{ controllers: controllers.split(","), path }];
  });
  const found = lines.flatMap(({ controllers, path }) => {
    if (controllers.includes("pids") || controllers.includes("memory"))
      return [join(root, controllers.join(","), path === "/" ? "" : path)];
    if (controllers.join("") !== "") return [];
    return [
      join(root, path === "/" ? "" : path),
      ...(path === "/" ? [] : [join(root, dirname(path))]),
    ].filter((each) => hasControllers(each));
  });
  return found.filter((path) => isWritable(path));
}

/** Version 2: whether a group passes on the controllers that we need. */
function hasControllers(path: string): boolean {
  try {
    return /\b(?:memory|pids)\b/u.test(readFileSync(join(path, "cgroup.subtree_control"), "utf8"));
  } catch {
    return false;
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function writeExisting(path: string, text: string): Promise<boolean> {
  return writeFile(path, text, { flag: "r+" }).then(
    () => true,
    () => false,
  );
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

/**
 * Cgroup match: where a cgroup (version 2) can be made for an agent, and how a rule of nftables
 * names it. A socket keeps the cgroup that it was made in, whoever owns it later.
 */
import { mkdir, readFile, readlink } from "node:fs/promises";
import { release } from "node:os";
import { join, relative } from "node:path";
import type { CgroupName } from "./nft-rules.js";
import { CGROUP_PREFIX } from "./resource-caps.js";
import { liesIn } from "./workspace.js";

/** A place for the cgroup of an agent. */
export interface CgroupPlace {
  /** Absolute; need not exist. */
  readonly directory: string;
  readonly name: CgroupName;
}

/** Why there is none, one line. */
export interface NoCgroup {
  readonly missing: string;
}

/** Where nft looks for the paths of its rules. */
const NFT_CGROUP_ROOT = "/sys/fs/cgroup";
/** The namespace that every machine starts with (PROC_CGROUP_INIT_INO of the kernel). */
const FIRST_CGROUP_NAMESPACE = "cgroup:[4026531835]";

/**
 * The place below the manager's own cgroup, so that whoever ends the manager's unit ends the agent
 * too.
 *
 * @param made - Directories of cgroups that the agent is in anyway: a process is in one of version
 *   2 only, so that one is taken.
 */
export async function findCgroupPlace(
  id: string,
  made: readonly string[] = [],
): Promise<CgroupPlace | NoCgroup> {
  const [mounts, own, namespace] = await Promise.all([
    readFile("/proc/self/mountinfo", "utf8"),
    readFile("/proc/self/cgroup", "utf8"),
    readlink("/proc/self/ns/cgroup"),
  ]);
  if (namespace !== FIRST_CGROUP_NAMESPACE && !isAtLeast(release(), [6, 11])) {
    return {
      missing: "before Linux 6.11 a rule cannot name a cgroup from within a cgroup namespace",
    };
  }
  return placeCgroup(`${CGROUP_PREFIX}${id}`, { mounts, own, made });
}

/** Makes the cgroup's directory, where it is not there. Record it before. */
export async function makeCgroup({ directory }: CgroupPlace): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o755 });
}

/**
 * Texts of /proc/self/mountinfo and /proc/self/cgroup, and what {@link findCgroupPlace} is told.
 */
export interface CgroupTexts {
  readonly mounts: string;
  readonly own: string;
  readonly made?: readonly string[];
}

/** {@link findCgroupPlace} for these texts. Pure. */
export function placeCgroup(
  child: string,
  { mounts, own, made = [] }: CgroupTexts,
): CgroupPlace | NoCgroup {
  const path = /^0::(?<path>\/.*)$/mu.exec(own)?.groups?.["path"];
  const mount = mountsOf(mounts).find(({ point }) => liesIn(point, NFT_CGROUP_ROOT));
  if (path === undefined || mount === undefined)
    return { missing: `there is no cgroup version 2 below ${NFT_CGROUP_ROOT}` };
  const below = relative(mount.root, path);
  if (stepsOf(path).includes("..") || below.startsWith(".."))
    return { missing: "this process is in a cgroup that is not mounted here" };
  // Version 1 is mounted elsewhere, or (hybrid) beside version 2.
  const directory =
    made.find((each) => liesIn(each, mount.point)) ?? join(mount.point, below, child);
  const level = stepsOf(mount.root).length + stepsOf(relative(mount.point, directory)).length;
  return { directory, name: { path: relative(NFT_CGROUP_ROOT, directory), level } };
}

function stepsOf(path: string): readonly string[] {
  return path.split("/").filter((step) => step !== "");
}

interface Mount {
  readonly root: string;
  readonly point: string;
}

/**
 * Fields: id, parent, device, root, mount point, options, tags…, "-", type, source, super options.
 */
function mountsOf(mountinfo: string): readonly Mount[] {
  return mountinfo.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root, point] = before.split(" ").map(unescapeMount);
    return after.startsWith("cgroup2 ") && root !== undefined && point !== undefined
      ? [{ root, point }]
      : [];
  });
}

/** The kernel writes blanks, tabs, newlines and backslashes as three octal digits. */
function unescapeMount(field: string): string {
  return field.replace(/\\([0-7]{3})/gu, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [have = 0, haveMinor = 0] = version.split(/[.-]/u).map(Number);
  return have > major || (have === major && haveMinor >= minor);
}

/**
 * Trusted path: whether an agent could have written what is at a path. It checks every directory
 * and link that leads there, because whoever can replace one of them chooses what is found. It
 * judges by owners and modes, whose group bits show access lists, and runs nothing.
 */
import { lstatSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { isAbsolute, join } from "node:path";

/** Where agents can write. */
export interface AgentReach {
  /**
   * Directories that an agent may write in, as real paths. Nothing in them is trusted, whoever owns
   * it.
   */
  readonly workspaces?: readonly string[];
}

/** Why a path or a program is not trusted. */
export interface Distrust {
  /** The reason, as the end of a sentence. */
  readonly reason: string;
  /** True if there is nothing at the path. */
  readonly isMissing: boolean;
}

/** As many links as the kernel follows. */
const LINKS_MAX = 40;
const ADMIN_OF_MACOS = 80;
/** Groups below are the system's own. */
const FIRST_OF_PEOPLE = 1000;
const [GROUP_WRITES, OTHERS_WRITE, STICKY] = [0o020, 0o002, 0o1000];

/**
 * Checks that no agent could have written what is at a path: follows it from the root and checks
 * the owner and mode of each step.
 *
 * @param path - Absolute.
 * @returns The real path, or why it is not trusted.
 */
export function trustedPath(path: string, { workspaces = [] }: AgentReach = {}): string | Distrust {
  if (!isAbsolute(path) || path.includes("\0"))
    return distrust(`"${path}" is not an absolute path`);
  const users = trustedUsers();
  const steps = path.split("/").toReversed();
  let [real, links] = ["/", 0];
  const top = look(real);
  const problem = top === undefined ? "it cannot be inspected" : whyNotOurs(top, users);
  if (problem !== undefined) return distrust(`"/": ${problem}`);
  while (steps.length > 0) {
    const step = steps.pop() ?? "";
    if (step === "" || step === ".") continue;
    if (step === "..") {
      real = join(real, "..");
      continue;
    }
    const at = join(real, step);
    const found = look(at);
    if (found === undefined) return { reason: `"${at}" does not exist`, isMissing: true };
    if (workspaces.some((each) => at === each || at.startsWith(`${each}/`)))
      return distrust(`"${at}" is in a workspace, where an agent can write`);
    const why = whyNotOurs(found, users);
    if (why !== undefined) return distrust(`"${at}" ${why}`);
    if (!found.isSymbolicLink()) {
      real = at;
      continue;
    }
    links += 1;
    if (links > LINKS_MAX) return distrust(`"${path}" is a loop of symbolic links`);
    const target = readlinkSync(at);
    steps.push(...target.split("/").toReversed());
    if (isAbsolute(target)) real = "/";
  }
  return real;
}

function distrust(reason: string): Distrust {
  return { reason, isMissing: false };
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // a step that is no directory, or that we may not enter
  }
}

/** Who may have written what we run: root and ourselves. */
interface TrustedUsers {
  readonly uids: ReadonlySet<number>;
  /** Groups that have nobody else in them; read when first needed. */
  readonly isOwnGroup: (gid: number) => boolean;
}

function trustedUsers(): TrustedUsers {
  const own = process.geteuid?.() ?? 0;
  const uids = new Set([0, own, ...unmappedRoot()]);
  const known = new Map<number, boolean>();
  const isOwnGroup = (gid: number): boolean => {
    const answer = known.get(gid) ?? hasNobodyElse(gid, uids);
    known.set(gid, answer);
    return answer;
  };
  return { uids, isOwnGroup };
}

function whyNotOurs(found: Stats, { uids, isOwnGroup }: TrustedUsers): string | undefined {
  if (!uids.has(found.uid)) return `belongs to another user (uid ${found.uid})`;
  // Package managers link one file into many projects: by its name in a workspace an agent writes
  // it here, too. What is root's it cannot write.
  if (found.isFile() && found.nlink > 1 && found.uid !== 0)
    return "has another name (a hard link), which may be in a workspace";
  // A link's own mode says nothing; nor may others replace our entries in a sticky directory.
  if (found.isSymbolicLink() || (found.isDirectory() && (found.mode & STICKY) !== 0))
    return undefined;
  if ((found.mode & OTHERS_WRITE) !== 0) return "is writable by all users";
  const isGroups = (found.mode & GROUP_WRITES) !== 0 && !isOwnGroup(found.gid);
  return isGroups ? `is writable by a group (gid ${found.gid})` : undefined;
}

/**
 * In a user namespace without the host's ids, everything of the host belongs to one id, which
 * nobody inside can be. Outside of one that id is a user like others (`nobody`), and agents run as
 * it.
 */
function unmappedRoot(): readonly number[] {
  const overflow = Number(readText("/proc/sys/kernel/overflowuid"));
  const ranges = readText("/proc/self/uid_map").trim().split("\n");
  const isMapped = ranges.some((range) => {
    const [first, , count] = range.trim().split(/\s+/u).map(Number);
    return (
      first === undefined || count === undefined || (overflow >= first && overflow < first + count)
    );
  });
  return isMapped || !Number.isInteger(overflow) || overflow === 0 ? [] : [overflow];
}

/**
 * Many systems give each user a group of their own, and make what they write the group's as well.
 */
function hasNobodyElse(gid: number, uids: ReadonlySet<number>): boolean {
  const users = readText("/etc/passwd")
    .split("\n")
    .map((line) => line.split(":"));
  const isTrusted = (name: string): boolean =>
    users.some(([user, , uid]) => user === name && uids.has(Number(uid)));
  const isOthersFirst = users.some(
    ([, , uid, group]) => group !== undefined && Number(group) === gid && !uids.has(Number(uid)),
  );
  const members = readText("/etc/group")
    .split("\n")
    .map((line) => line.split(":"))
    .filter(([, , group]) => group !== undefined && Number(group) === gid)
    .flatMap(([, , , names = ""]) => names.split(",").filter((name) => name !== ""));
  // Administrators become root as they like. macOS has no other lists of users in files.
  if (process.platform === "darwin") return gid === 0 || gid === ADMIN_OF_MACOS;
  // Users of a directory service are in none of these files: their groups have high numbers.
  const isLocal = gid < FIRST_OF_PEOPLE || gid === process.getegid?.();
  return isLocal && !isOthersFirst && members.every(isTrusted);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

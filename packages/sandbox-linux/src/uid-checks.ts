/**
 * UID checks: whether one uid is all that a user can be. A user who can become somebody else, or
 * have somebody else make a connection, is not held by rules on a uid. Why: docs/adr/0071-*.md.
 */
import { readFile } from "node:fs/promises";
import { quoteText } from "@acp/core";
import type { AgentUser } from "./parts.js";
import { requireTool, runTool } from "./tools.js";

/** Why a user cannot be held by rules on its uid, and what would change that. */
export interface Refusal {
  readonly reason: string;
  readonly fix: string;
}

/** What the host says about who a user can be. */
export interface UserFacts {
  /** Names of all groups, the primary one included. */
  readonly groups: readonly string[];
  readonly subuid: string;
  readonly subgid: string;
  readonly nsswitch: string;
}

/**
 * Members get another user's rights, or reach what does (its socket, the disk, the kernel's memory,
 * other users' logs and secrets).
 */
const POWERFUL_GROUPS: ReadonlySet<string> = new Set(
  "root wheel sudo admin adm sys staff shadow disk kmem tape tty systemd-journal \
docker podman lxd lxc incus incus-admin libvirt kvm vboxusers netdev wireshark".split(" "),
);

/** Why the user is refused; `undefined` where nothing speaks against it. Pure. */
export function refuseUser(user: AgentUser, facts: UserFacts): Refusal | undefined {
  if (user.uid === 0)
    return {
      reason: "the agent's user is root",
      fix: "name a user of its own for the agent, such as: useradd --system agent",
    };
  const powerful = facts.groups.filter((group) => POWERFUL_GROUPS.has(group));
  if (powerful.length > 0 || user.gid === 0) return refuseGroups(user, powerful);
  return (
    refuseSource(facts.nsswitch) ??
    refuseRanges(user, facts.subuid, {
      file: "/etc/subuid",
      option: "--del-subuids",
      id: user.uid,
    }) ??
    refuseRanges(user, facts.subgid, { file: "/etc/subgid", option: "--del-subgids", id: user.gid })
  );
}

function refuseGroups({ name }: AgentUser, powerful: readonly string[]): Refusal {
  const groups =
    powerful.length === 0
      ? "the group with gid 0"
      : powerful.map((group) => quoteText(group)).join(", ");
  return {
    reason: `user ${quoteText(name)} is in ${groups}, whose members can act as another user`,
    fix:
      powerful.length === 0
        ? "give it a group of its own: usermod --gid"
        : powerful.map((group) => `gpasswd -d ${name} ${group}`).join("; "),
  };
}

function refuseSource(nsswitch: string): Refusal | undefined {
  const source = /^\s*subid:\s*(.*)$/mu.exec(nsswitch)?.[1]?.replace(/#.*/u, "").trim();
  if (source === undefined || source === "files") return undefined;
  return {
    reason: `subordinate ids come from ${quoteText(source)} (/etc/nsswitch.conf), where they cannot be looked up`,
    fix: 'write "subid: files" in /etc/nsswitch.conf',
  };
}

interface RangeFile {
  readonly file: string;
  readonly option: string;
  readonly id: number;
}

/**
 * Lines: name or uid, first id, count. Both kinds of files name users, also where the ids are those
 * of groups.
 */
function refuseRanges(
  { name, uid }: AgentUser,
  text: string,
  { file, option, id }: RangeFile,
): Refusal | undefined {
  for (const line of text.split("\n")) {
    const [owner = "", first = "", count = ""] = line.split(":").map((field) => field.trim());
    if (line.trim() === "" || line.startsWith("#")) continue;
    const end = Number(first) + Number(count) - 1;
    if (owner === name || owner === String(uid)) {
      return {
        reason: `user ${quoteText(name)} has subordinate ids (${file}) and can become one that no rule names`,
        fix: `usermod ${option} ${Number(first)}-${end} ${name}`,
      };
    }
    if (Number(first) <= id && id <= end) {
      return {
        reason: `${id} is a subordinate id of ${quoteText(owner)} (${file}), who can become the agent`,
        fix: "give the agent an ID outside all ranges in that file",
      };
    }
  }
  return undefined;
}

/**
 * What this host says about a user.
 *
 * @throws Error where the groups cannot be asked for: what is not known is not harmless.
 */
export async function readUserFacts({ name, uid, gid }: AgentUser): Promise<UserFacts> {
  const [subuid, subgid, nsswitch, groupLine] = await Promise.all([
    readIfThere("/etc/subuid"),
    readIfThere("/etc/subgid"),
    readIfThere("/etc/nsswitch.conf"),
    ask("getent", ["group", String(gid)], [2]),
  ]);
  // A uid without a name is in no group but the one it is started with.
  const named = name === String(uid) ? "" : await ask("id", ["-Gn", "-z", "--", name], []);
  const primary = groupLine.split(":", 1)[0] ?? "";
  return {
    groups: [...named.split("\0"), primary].filter((group) => group !== ""),
    subuid,
    subgid,
    nsswitch,
  };
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}

/** Standard output; an exit code of `empty` means that there is nothing of that name. */
async function ask(
  command: string,
  args: readonly string[],
  empty: readonly number[],
): Promise<string> {
  const { code, stdout, stderr, failure } = await runTool([requireTool(command), ...args]);
  if (code === 0) return stdout;
  if (code !== undefined && empty.includes(code)) return "";
  throw new Error(`${command}: ${failure ?? stderr.trim()}`);
}

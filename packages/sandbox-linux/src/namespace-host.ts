/**
 * Namespace host: whether this host can make the namespaces, found by making them, and in which of
 * three ways.
 */
import { statSync } from "node:fs";
import type { Distrust } from "@acp/host";
import type { AgentUser } from "./parts.js";
import { isKnown, remember, type Trial } from "./known-trials.js";
import { findTool, runTool } from "./tools.js";

/**
 * `own`: the manager is not root, the agent is the same user in a user namespace. `dropped`: a root
 * manager becomes the agent's user first, and then the same. `rooted`: no user namespaces are to be
 * had, so root makes the others and the agent becomes its user inside of them.
 */
export type NamespaceVariant = "own" | "dropped" | "rooted";

/** What a host has. */
export interface NamespaceHost {
  readonly bwrap: string;
  readonly setpriv: string | undefined;
  readonly variant: NamespaceVariant;
}

/** Why it cannot be done here. */
export interface Obstacle {
  readonly reason: string;
  readonly fix: string;
}

const INSTALL = "Install bubblewrap 0.8 or later (package bubblewrap)";
const TRIAL_MS = 30_000;
/** The parts of the real command line that hosts are known to refuse. */
const TRIAL = [
  "--unshare-net",
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--ro-bind",
  "/",
  "/",
  "--proc",
  "/proc",
  "--dev",
  "/dev",
];
const FIXES: readonly (readonly [RegExp, string])[] = [
  [/Unknown option/u, INSTALL],
  [
    /ENOSPC|No space left|max_.*namespaces/u,
    "Raise user.max_user_namespaces, or start the manager as root",
  ],
  [
    /RTM_NEWADDR|uid map|apparmor/iu,
    "Give bwrap an AppArmor profile that allows userns, or start the manager as root",
  ],
  [/proc/u, "In a container, start it with an unmasked /proc, or use another sandbox"],
  [
    /No permissions|not permitted|Permission denied/u,
    "Set kernel.unprivileged_userns_clone=1, or start the manager as root",
  ],
];

/** How a host is looked at. */
export interface LookAtHost {
  readonly find?: typeof findTool;
  /** Whether what worked before is taken to work again. It is the start that shows. */
  readonly mayRecall?: boolean;
}

/** Looks at the host; tries the strongest way first. */
export async function findNamespaceHost(
  user: AgentUser,
  { find = findTool, mayRecall = false }: LookAtHost = {},
): Promise<NamespaceHost | Obstacle> {
  const bwrap = find("bwrap");
  if (typeof bwrap !== "string")
    return obstacle(bwrap, "bubblewrap (bwrap) is not installed", INSTALL);
  const setuid = statSync(bwrap);
  if ((setuid.mode & 0o6000) !== 0) {
    return {
      reason: `"${bwrap}" is setuid, and then its own faults are root's`,
      fix: "Remove the bit: chmod u-s, and allow user namespaces",
    };
  }
  const isRoot = process.getuid?.() === 0;
  const found = find("setpriv");
  if (isRoot && typeof found !== "string") {
    return obstacle(
      found,
      "setpriv is not installed, and root must not be lent to an agent",
      "Install setpriv (package util-linux)",
    );
  }
  const setpriv = typeof found === "string" ? found : undefined;
  const host: NamespaceHost = { bwrap, setpriv, variant: isRoot ? "dropped" : "own" };
  const rooted: NamespaceHost = { ...host, variant: "rooted" };
  const recalled = mayRecall
    ? [host, ...(isRoot ? [rooted] : [])].find((each) => isKnown(trialOf(each, user)))
    : undefined;
  if (recalled !== undefined) return recalled;
  const problem = await tryOut(host, user);
  if (problem === undefined) return host;
  if (isRoot && (await tryOut(rooted, user)) === undefined) return rooted;
  return { reason: `bubblewrap cannot make its namespaces: ${problem}`, fix: fixFor(problem) };
}

/** One that is there and not trusted must not be mended by installing it. */
function obstacle({ reason, isMissing }: Distrust, missing: string, install: string): Obstacle {
  return isMissing
    ? { reason: missing, fix: install }
    : { reason, fix: "Let only root change it and every directory above it" };
}

/** The command line up to bubblewrap's own arguments; `before` runs as the same user. */
export function bwrapCommand(
  { bwrap, variant, setpriv }: NamespaceHost,
  user: AgentUser,
  before: readonly string[] = [],
): readonly string[] {
  return variant === "dropped" && setpriv !== undefined
    ? [setpriv, ...dropTo(user), "--", ...before, bwrap]
    : [...before, bwrap];
}

/** Arguments of bubblewrap that say who the agent is. */
export function userArguments({ variant }: NamespaceHost): readonly string[] {
  if (variant !== "rooted") return ["--unshare-user", "--disable-userns", "--cap-drop", "ALL"];
  return [
    "--cap-drop",
    "ALL",
    ...["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"].flatMap((name) => ["--cap-add", name]),
  ];
}

/** What comes before the agent's command line, inside. */
export function insideCommand(
  { variant, setpriv }: NamespaceHost,
  user: AgentUser,
): readonly string[] {
  if (variant !== "rooted" || setpriv === undefined) return [];
  return [setpriv, ...dropTo(user), "--bounding-set=-all", "--no-new-privs", "--"];
}

/**
 * The first of some paths that the agent's user may not read or enter. A root manager could, but it
 * is the agent's user that mounts them.
 */
export async function firstUnreadable(
  { variant, setpriv }: NamespaceHost,
  user: AgentUser,
  paths: readonly string[],
): Promise<string | undefined> {
  if (variant !== "dropped" || setpriv === undefined) return undefined;
  const script =
    'for path; do [ -r "$path" ] && { [ ! -d "$path" ] || [ -x "$path" ]; } || { printf %s "$path"; exit 1; }; done';
  const command = [setpriv, ...dropTo(user), "--", "/bin/sh", "-c", script, "sh", ...paths];
  const { code, stdout, stderr, failure } = await runTool(command, { env: {} });
  if (code === 0) return undefined;
  return stdout === "" ? (failure ?? stderr.trim()) : stdout;
}

function dropTo({ uid, gid }: AgentUser): readonly string[] {
  return [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--inh-caps=-all"];
}

async function tryOut(host: NamespaceHost, user: AgentUser): Promise<string | undefined> {
  const command = [
    ...bwrapCommand(host, user),
    ...userArguments(host),
    ...TRIAL,
    "--",
    ...insideCommand(host, user),
    "/bin/sh",
    "-c",
    "exit 0",
  ];
  const {
    code,
    stderr,
    failure = `exit code ${code}`,
  } = await runTool(command, { env: {}, timeoutMs: TRIAL_MS });
  if (code === 0) {
    await remember(trialOf(host, user));
    return undefined;
  }
  const said = stderr.trim().split("\n").at(-1);
  return said === undefined || said === "" ? failure : said;
}

function trialOf({ bwrap, setpriv, variant }: NamespaceHost, { uid, gid }: AgentUser): Trial {
  return {
    words: ["namespaces", variant, `${uid}:${gid}`],
    programs: [bwrap, ...(setpriv === undefined ? [] : [setpriv])],
  };
}

function fixFor(problem: string): string {
  return (
    FIXES.find(([pattern]) => pattern.test(problem))?.[1] ??
    "See what bubblewrap says, or start the manager as root"
  );
}

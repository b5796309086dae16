/**
 * Namespace host: whether this host can make the namespaces, found by making them, and in which of three ways.
 */
import { execFile, spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { AgentUser } from "./parts.js";
import { statOptional } from "./stat-optional.js";

/**
 * `own`: the manager is not root, the agent is the same user in a user namespace. `dropped`: a root manager becomes the agent's user first,
 * and then the same. `rooted`: no user namespaces are to be had, so root makes the others and the agent becomes its user inside of them.
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
const ENV = "/usr/bin/env";
const IGNORING = "--ignore-signal=INT,QUIT";
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
  [/ENOSPC|No space left|max_.*namespaces/u, "Raise user.max_user_namespaces, or start the manager as root"],
  [/RTM_NEWADDR|uid map|apparmor/iu, "Give bwrap an AppArmor profile that allows userns, or start the manager as root"],
  [/proc/u, "In a container, start it with an unmasked /proc, or use another sandbox"],
  [/No permissions|not permitted|Permission denied/u, "Set kernel.unprivileged_userns_clone=1, or start the manager as root"],
];

/** Looks at the host; tries the strongest way first. */
export async function findNamespaceHost(user: AgentUser): Promise<NamespaceHost | Obstacle> {
  const bwrap = findProgram("bwrap");
  if (bwrap === undefined) return { reason: "bubblewrap (bwrap) is not installed", fix: INSTALL };
  const setuid = statSync(bwrap);
  if ((setuid.mode & 0o6000) !== 0) {
    return {
      reason: `"${bwrap}" is setuid, and then its own faults are root's`,
      fix: "Remove the bit: chmod u-s, and allow user namespaces",
    };
  }
  const isRoot = process.getuid?.() === 0;
  const setpriv = findProgram("setpriv");
  if (isRoot && setpriv === undefined) {
    return { reason: "setpriv is not installed, and root must not be lent to an agent", fix: "Install setpriv (package util-linux)" };
  }
  const host: NamespaceHost = { bwrap, setpriv, variant: isRoot ? "dropped" : "own" };
  const problem = await tryOut(host, user);
  if (problem === undefined) return host;
  const rooted: NamespaceHost = { ...host, variant: "rooted" };
  if (isRoot && (await tryOut(rooted, user)) === undefined) return rooted;
  return { reason: `bubblewrap cannot make its namespaces: ${problem}`, fix: fixFor(problem) };
}

/** The command line up to bubblewrap's own arguments. */
export function bwrapCommand({ bwrap, variant, setpriv }: NamespaceHost, user: AgentUser): readonly string[] {
  return variant === "dropped" && setpriv !== undefined ? [setpriv, ...dropTo(user), "--", bwrap] : [bwrap];
}

/** Arguments of bubblewrap that say who the agent is. */
export function userArguments({ variant }: NamespaceHost): readonly string[] {
  if (variant !== "rooted") return ["--unshare-user", "--disable-userns", "--cap-drop", "ALL"];
  return ["--cap-drop", "ALL", ...["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"].flatMap((name) => ["--cap-add", name])];
}

/** What comes before the agent's command line, inside. */
export function insideCommand({ variant, setpriv }: NamespaceHost, user: AgentUser): readonly string[] {
  if (variant !== "rooted" || setpriv === undefined) return [];
  return [setpriv, ...dropTo(user), "--bounding-set=-all", "--no-new-privs", "--"];
}

/** The first of some paths that the agent's user may not read or enter. A root manager could, but it is the agent's user that mounts them. */
export function firstUnreadable(
  { variant, setpriv }: NamespaceHost,
  user: AgentUser,
  paths: readonly string[],
): Promise<string | undefined> {
  if (variant !== "dropped" || setpriv === undefined) return Promise.resolve(undefined);
  const script = 'for path; do [ -r "$path" ] && { [ ! -d "$path" ] || [ -x "$path" ]; } || { printf %s "$path"; exit 1; }; done';
  return new Promise((resolve) => {
    execFile(setpriv, [...dropTo(user), "--", "/bin/sh", "-c", script, "sh", ...paths], { env: {} }, (error, stdout) => {
      resolve(error === null ? undefined : stdout === "" ? error.message : stdout);
    });
  });
}

/** Whether a program can be started with Ctrl-C ignored, and the agent inside with Ctrl-C as usual: GNU env can since 2018. */
export function canIgnoreSignals(): boolean {
  return spawnSync(ENV, [IGNORING, "/bin/sh", "-c", "exit 0"], { env: {}, stdio: "ignore" }).status === 0;
}

/** Keeps bubblewrap itself, which is in the terminal's foreground with the agent, from ending at Ctrl-C before the agent could say a word. */
export const IGNORE_SIGNALS: readonly string[] = [ENV, IGNORING];
/** Inside, before the agent. */
export const DEFAULT_SIGNALS: readonly string[] = [ENV, "--default-signal=INT,QUIT"];

function dropTo({ uid, gid }: AgentUser): readonly string[] {
  return [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--inh-caps=-all"];
}

function tryOut(host: NamespaceHost, user: AgentUser): Promise<string | undefined> {
  const [program = "", ...rest] = bwrapCommand(host, user);
  const args = [...rest, ...userArguments(host), ...TRIAL, "--", ...insideCommand(host, user), "/bin/sh", "-c", "exit 0"];
  return new Promise((resolve) => {
    execFile(program, args, { env: {}, timeout: TRIAL_MS, killSignal: "SIGKILL" }, (error, _, stderr) => {
      const said = stderr.trim().split("\n").at(-1);
      resolve(error === null ? undefined : said === undefined || said === "" ? error.message : said);
    });
  });
}

function fixFor(problem: string): string {
  return FIXES.find(([pattern]) => pattern.test(problem))?.[1] ?? "See what bubblewrap says, or start the manager as root";
}

/** Finds a program as a shell would, in the absolute directories of PATH. */
export function findProgram(name: string, path: string = process.env["PATH"] ?? "/usr/bin:/bin"): string | undefined {
  const places = path.split(":").filter((directory) => isAbsolute(directory));
  return places
    .map((directory) => join(directory, name))
    .find((each) => {
      const found = statOptional(each);
      return found?.isFile() === true && (found.mode & 0o111) !== 0;
    });
}

/**
 * UID command: the chain of programs from a root manager to an agent that has given everything up.
 * Each step takes something away for good, and the agent's environment is read only where nothing
 * is left to take. Nothing secret is an argument: arguments are everybody's to read.
 */
import { chmod, chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConsentError, quoteText } from "@acp/core";
import { CHANNEL_FD, firstStageCommand } from "./first-stage.js";
import type { NativeHelper } from "./native-helper.js";
import type { AgentUser, ResourceCaps, Session } from "./parts.js";
import { rlimitCommand } from "./resource-caps.js";
import { requireTool } from "./tools.js";
import { becomeUser } from "./uid-access.js";

/** Descriptor of the filter in the child. */
export const FILTER_FD = 4;

/** What the chain is made of. */
export interface UidCommandParts {
  readonly argv: readonly string[];
  readonly user: AgentUser;
  readonly session: Session;
  readonly cwd: string;
  /** {@link UidNamespace.enter}. */
  readonly enter: readonly string[];
  /** Directories of the cgroups that the agent is put in. */
  readonly cgroups: readonly string[];
  readonly helper: NativeHelper;
  /** Whether a filter is at {@link FILTER_FD}, for the helper. */
  readonly hasFilter: boolean;
  readonly caps: ResourceCaps;
}

/**
 * Signals of the terminal are for the agent: what stands between it and the manager ignores them. A
 * socket is of the cgroup it was made in.
 */
const JOIN = `trap '' INT QUIT TSTP
while test "$1" != --; do echo 0 >"$1/cgroup.procs" || exit 125; shift; done
shift
exec "$@"`;
/** `$1`: the environment, `$2`: the working directory. */
const BEGIN = `. "$1" && cd -- "$2" || exit 125
shift 2
exec "$@"`;

/** The whole chain. */
export function makeUidCommand(parts: UidCommandParts): readonly string[] {
  const { argv, session, cwd, enter, cgroups } = parts;
  const paths = { node: process.execPath, stage: join(session.inside, "first-stage.cjs") };
  return [
    ["/bin/sh", "-c", JOIN, "sh", ...cgroups, "--"],
    [requireTool("setpriv"), "--pdeathsig", "KILL", "--", ...enter],
    confine(parts),
    [
      "/usr/bin/env",
      "-i",
      "--default-signal",
      "--",
      "/bin/sh",
      "-c",
      BEGIN,
      "sh",
      environmentPath(session),
      cwd,
    ],
    firstStageCommand(paths, argv),
  ].flat();
}

/** Becomes the user; with the helper also closes descriptors and installs the filter. */
function confine({ user, helper, hasFilter, caps }: UidCommandParts): readonly string[] {
  if (!helper.isAvailable) return [...rlimitCommand(caps), ...becomeUser(user)];
  const { openFiles: files, processes } = caps;
  const numbers = {
    uid: user.uid,
    gid: user.gid,
    keep: CHANNEL_FD,
    files,
    processes,
    ...(hasFilter && { seccomp: FILTER_FD }),
  };
  return [
    helper.path,
    ...Object.entries(numbers).flatMap(([name, value]) => [`--${name}`, String(value)]),
    "--",
  ];
}

function environmentPath({ directory }: Session): string {
  return join(directory, "environment");
}

/**
 * Writes the agent's environment for the agent's eyes only: the programs before it run as root, and
 * a variable such as LD_PRELOAD would be theirs.
 *
 * @returns The file's path; it is of no use once the agent runs.
 * @throws ConsentError `options_invalid` for a name that no shell can set.
 */
export async function writeEnvironment(
  session: Session,
  user: AgentUser,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const lines = Object.entries(env).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/u.test(name) || value.includes("\0")) {
      throw new ConsentError(
        "options_invalid",
        `Cannot pass the variable ${quoteText(name)} to an agent: it is not the name of one`,
      );
    }
    return `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`;
  });
  const path = environmentPath(session);
  await writeFile(path, lines.join(""), { mode: 0o600, flag: "wx" });
  await chmod(path, 0o400);
  await chown(path, user.uid, user.gid);
  return path;
}

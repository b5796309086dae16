/**
 * Namespace arguments: bubblewrap's, as the bytes for `--args FD`. They hold the agent's environment, so they are never on a command line,
 * which every process inside (and every user outside) may read.
 */
import { ConsentError } from "@acp/core";
import { type NamespaceHost, userArguments } from "./namespace-host.js";
import { INSIDE } from "./namespace-root.js";

const ALWAYS = [
  ...option("--hostname", INSIDE.host),
  ..."--unshare-net --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --die-with-parent".split(" "),
];

/** What the arguments are made of. */
export interface ArgumentParts {
  readonly host: NamespaceHost;
  /** Of namespace-root.ts. */
  readonly root: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Whether the agent keeps the terminal's session, so that Ctrl-C and window sizes reach it. */
  readonly hasTerminal: boolean;
  /** Descriptors of the child. */
  readonly seccompFd: number;
  readonly channelFd: number;
}

/**
 * Makes the arguments.
 *
 * @throws ConsentError `options_invalid` where a part holds a NUL, which would end it and begin an argument of its own.
 */
export function makeArguments({ host, root, env, cwd, hasTerminal, seccompFd, channelFd }: ArgumentParts): Uint8Array {
  const args = [
    ...userArguments(host),
    ...ALWAYS,
    ...(hasTerminal ? [] : ["--new-session"]),
    ...root,
    ...option("--seccomp", String(seccompFd)),
    ...option("--chdir", cwd),
    "--clearenv",
    ...option("--setenv", "NODE_CHANNEL_FD", String(channelFd)),
    ...Object.entries(env).flatMap(([name, value]) => option("--setenv", checkName(name), value)),
  ];
  const broken = args.findIndex((each) => each.includes("\0"));
  if (broken !== -1)
    throw new ConsentError("options_invalid", "Cannot start an agent: a path or a variable of its environment holds a NUL");
  return Buffer.from(args.map((each) => `${each}\0`).join(""));
}

/** One option and its values, on one line. */
function option(...words: readonly string[]): readonly string[] {
  return words;
}

function checkName(name: string): string {
  if (name === "" || name.includes("="))
    throw new ConsentError("options_invalid", `Cannot give an agent the variable "${name}": not a name`);
  return name;
}

/**
 * Namespace arguments: bubblewrap's, as the bytes for `--args FD`. They hold the agent's
 * environment, so they are never on a command line, which every process inside (and every user
 * outside) may read.
 */
import { ConsentError } from "@acp/core";
import { type NamespaceHost, userArguments } from "./namespace-host.js";
import { INSIDE } from "./namespace-root.js";

const ALWAYS = [
  ...option("--hostname", INSIDE.host),
  ..."--unshare-net --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --die-with-parent".split(
    " ",
  ),
];

/** What the arguments are made of. */
export interface ArgumentParts {
  readonly host: NamespaceHost;
  /** Of namespace-root.ts. */
  readonly root: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /**
   * Whether native/init.c is the first process; it makes the session, and has the environment from
   * {@link makeEnvironment}.
   */
  readonly hasInit: boolean;
  /** Descriptor of the child. */
  readonly seccompFd: number;
}

/**
 * Makes the arguments.
 *
 * @throws ConsentError `options_invalid` where a part holds a NUL, which would end it and begin an
 *   argument of its own.
 */
export function makeArguments({
  host,
  root,
  env,
  cwd,
  hasInit,
  seccompFd,
}: ArgumentParts): Uint8Array {
  const variables = Object.entries(env).flatMap(([name, value]) =>
    option("--setenv", checkName(name), value),
  );
  return joinWords([
    ...userArguments(host),
    ...ALWAYS,
    hasInit ? "--as-pid-1" : "--new-session",
    ...root,
    ...option("--seccomp", String(seccompFd)),
    ...option("--chdir", cwd),
    "--clearenv",
    ...(hasInit ? [] : variables),
  ]);
}

/**
 * Makes the agent's environment, as the bytes for native/init.c, which has none itself: a library
 * named there would be loaded into it.
 *
 * @throws ConsentError `options_invalid` for what is no variable.
 */
export function makeEnvironment(env: Readonly<Record<string, string>>): Uint8Array {
  return joinWords(Object.entries(env).map(([name, value]) => `${checkName(name)}=${value}`));
}

function joinWords(words: readonly string[]): Uint8Array {
  if (words.some((each) => each.includes("\0")))
    throw new ConsentError(
      "options_invalid",
      "Cannot start an agent: a path or a variable of its environment holds a NUL",
    );
  return Buffer.from(words.map((each) => `${each}\0`).join(""));
}

/** One option and its values, on one line. */
function option(...words: readonly string[]): readonly string[] {
  return words;
}

function checkName(name: string): string {
  if (name === "" || name.includes("="))
    throw new ConsentError(
      "options_invalid",
      `Cannot give an agent the variable "${name}": not a name`,
    );
  return name;
}

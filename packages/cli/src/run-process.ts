/**
 * runProcess: the command line in a process of its own. Only this file and hang-up.ts touch
 * `process`: everything else gets it handed in.
 */
import { homedir } from "node:os";
import { EXIT_CODES } from "./exit-codes.js";
import { endQuietlyOnHangUp } from "./hang-up.js";
import { main } from "./main.js";

const stop = new AbortController();

/**
 * Aborts when the process is told to end; until it is asked for, signals do what they do by
 * default.
 */
function onStop(): AbortSignal {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(name, () => stop.abort(new Error(name)));
  return stop.signal;
}

/** Signals that somebody else is to get; until it is asked for, they do what they do by default. */
function onSignals(names: readonly NodeJS.Signals[], take: (name: NodeJS.Signals) => void): void {
  for (const name of names) process.on(name, take);
}

/**
 * Runs the process's own arguments and sets its exit code.
 *
 * @example
 * ```ts
 * import { runProcess } from "@acp/cli";
 *
 * process.argv.splice(2, Infinity, "policy", "check");
 * await runProcess(); // as `acp policy check`
 * ```
 */
export async function runProcess(): Promise<void> {
  const { stdin, stdout, stderr, env, argv, pid, ppid } = process;
  const isHungUp = endQuietlyOnHangUp();
  // A reader that has seen enough (`acp audit show | head`) closes the pipe, or the terminal: a
  // normal end.
  const isTerminal = stdout.isTTY;
  stdout.on("error", ({ code }: NodeJS.ErrnoException) =>
    process.exit(code === "EPIPE" || (isTerminal && code === "EIO") ? 0 : 1),
  );
  // Nobody hears what is said beside the result: no reason to end what runs.
  stderr.on("error", () => {});
  const cwd = currentDirectory();
  if (cwd === undefined) {
    stderr.write(
      "acp: Cannot start: the current directory was removed; go to another one [options_invalid]\n",
    );
    process.exitCode = EXIT_CODES.usage.code;
    return;
  }
  process.exitCode = await main(argv.slice(2), {
    stdin,
    stdout,
    stderr,
    env,
    pid,
    ppid,
    cwd,
    userHome: homedir(),
    onStop,
    onSignals,
  });
  // What nobody reads from standard output would keep a process alive that was told to end.
  if (stop.signal.aborted || isHungUp()) process.exit();
}

/** `undefined` where it is no more: nothing that is named on the command line could be found. */
function currentDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

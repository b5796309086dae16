/**
 * runProcess: the command line in a process of its own. The only file that touches `process`: everything else gets it handed in.
 */
import { homedir } from "node:os";
import { main } from "./main.js";

/** Aborts when the process is told to end; until it is asked for, signals do what they do by default. */
function onStop(): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stop.abort(new Error(name)));
  return stop.signal;
}

/** Runs the process's own arguments and sets its exit code. */
export async function runProcess(): Promise<void> {
  const { stdin, stdout, stderr, env, argv, pid, ppid } = process;
  // A reader that has seen enough (`acp audit show | head`) closes the pipe: a normal end.
  stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  process.exitCode = await main(argv.slice(2), { stdin, stdout, stderr, env, pid, ppid, cwd: process.cwd(), userHome: homedir(), onStop });
}

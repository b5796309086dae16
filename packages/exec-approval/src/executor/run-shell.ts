/**
 * RunShell: one command text in one bash, with the given variables and no others, no input, and a
 * bound on its time and its output. When it is over, nothing that it started runs on (session.ts
 * says what gets away).
 */
import type { Clock } from "@acp/core";
import { ConsentError } from "@acp/core";
import { hasOutput, type ReadableProcess, startProgram, trustedProgram } from "@acp/host";
import { followOutput, type Output, type OutputOptions } from "./output.js";
import { endSession } from "./session.js";

/** The one shell whose grammar commands are judged by. */
export const BASH = "/bin/bash";

/** How a run ended. */
export type CommandOutcome = {
  /** How much the command wrote, in bytes, up to the limit. */
  readonly outputBytes: number;
} & (
  | { readonly end: "exited"; readonly exitCode: number }
  /** By a signal that was not ours. */
  | { readonly end: "signalled"; readonly signal: NodeJS.Signals }
  /** By us: its time was over, its caller went away, or it wrote more than it may. */
  | { readonly end: "timed_out" | "aborted" | "output_limit" }
  /** The system started no process. */
  | { readonly end: "not_started"; readonly reason: string }
);

/** What is run, and how. */
export interface ShellRun extends Pick<OutputOptions, "take" | "masker"> {
  readonly command: string;
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly outputBytesMax: number;
  readonly clock: Clock;
}

/**
 * How long to wait for output that a process left behind may still write, and again once it was
 * ended.
 */
const DRAIN_MS = 500;
/** How long at most, where it never falls silent. */
const DRAIN_MS_MAX = 5_000;

type Child = ReadableProcess;
/** Why a run was ended. */
export type Stop = "timed_out" | "aborted" | "output_limit";
type Exit = { readonly exitCode: number } | { readonly signal: NodeJS.Signals };

/** Starts bash; the text behind `--` is a command, also where it starts with `-`. */
function start({ command, cwd, variables }: ShellRun): Child {
  const bash = trustedProgram(BASH);
  if ("reason" in bash)
    throw new ConsentError("sandbox_unavailable", `Cannot run a command: ${bash.reason}`);
  const child = startProgram(bash, ["--noprofile", "--norc", "-c", "--", command], {
    cwd,
    env: variables,
    // A session of its own, by which all that it starts is found again; and no terminal.
    isDetached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (!hasOutput(child))
    throw new ConsentError(
      "sandbox_unavailable",
      "Cannot run a command: the system has no free descriptors",
    );
  return child;
}

function exitOf(child: Child): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) =>
      resolve(signal === null ? { exitCode: code ?? 1 } : { signal }),
    );
  });
}

/** What ends a run before it ends by itself; `disarm` when it did. */
export interface Stopper {
  readonly stopped: Promise<Stop>;
  readonly stop: (why: Stop) => void;
  readonly disarm: () => void;
}

/** Watches the time and the caller of a run. */
export function makeStopper({
  signal,
  timeoutMs,
  clock,
}: Pick<ShellRun, "signal" | "timeoutMs" | "clock">): Stopper {
  const over = new AbortController();
  let stop = (_why: Stop): void => undefined;
  const stopped = new Promise<Stop>((resolve) => (stop = resolve));
  const onAbort = (): void => stop("aborted");
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  clock.sleep(timeoutMs, { signal: over.signal }).then(
    () => stop("timed_out"),
    () => undefined,
  );
  const disarm = (): void => {
    signal.removeEventListener("abort", onAbort);
    over.abort(new Error("the command is over"));
  };
  return { stopped, stop: (why) => stop(why), disarm };
}

/** Ends what is left of the command and takes what it wrote before. */
async function finish(session: number, output: Output, stopped: Promise<unknown>): Promise<void> {
  // A process substitution may be about to write something still.
  await Promise.race([output.settledWithin(DRAIN_MS, DRAIN_MS_MAX), stopped]);
  await endSession(session);
  if (!(await output.settledWithin(DRAIN_MS, DRAIN_MS_MAX))) output.close();
}

/**
 * Runs a command. Resolves when it is over, everything that it started included.
 *
 * @throws What `take` throws, after the command was ended.
 */
export async function runShell(run: ShellRun): Promise<CommandOutcome> {
  if (run.signal.aborted) return { end: "aborted", outputBytes: 0 };
  let child: Child;
  try {
    child = start(run);
  } catch (error) {
    return notStarted(error);
  }
  const exited = exitOf(child);
  const session = child.pid;
  if (session === undefined) return exited.then(() => notStarted("no process"), notStarted);
  const stopper = makeStopper(run);
  const output = followOutput(
    { stdout: child.stdout, stderr: child.stderr },
    {
      take: run.take,
      masker: run.masker,
      bytesMax: run.outputBytesMax,
      onExcess: () => stopper.stop("output_limit"),
    },
  );
  // A taker that throws ends the command; what it threw is told at the end.
  output.done.catch(() => stopper.stop("aborted"));
  // Whoever went away takes nothing any more.
  const leave = (): void => output.close();
  run.signal.addEventListener("abort", leave, { once: true });
  const why = await Promise.race([exited.then(() => undefined), stopper.stopped]);
  await finish(session, output, stopper.stopped);
  const exit = await exited;
  stopper.disarm();
  run.signal.removeEventListener("abort", leave);
  if (!run.signal.aborted) await output.done;
  return outcomeOf(exit, why, output);
}

function outcomeOf(exit: Exit, why: Stop | undefined, output: Output): CommandOutcome {
  const outputBytes = output.bytes();
  // What it wrote is counted when it is taken, which may be after its end.
  if (output.isExceeded()) return { end: "output_limit", outputBytes };
  if (why !== undefined) return { end: why, outputBytes };
  return "signal" in exit
    ? { end: "signalled", ...exit, outputBytes }
    : { end: "exited", ...exit, outputBytes };
}

/** The system's own word, without the path or the command in it: `ENOENT`, `E2BIG`. */
function notStarted(error: unknown): CommandOutcome {
  const reason =
    error instanceof Error && "code" in error
      ? String(error.code)
      : "the system started no process";
  return { end: "not_started", reason, outputBytes: 0 };
}

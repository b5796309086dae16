/** Run program: runs a program until it ends, bounded in time and output. */
import type { ChildProcess } from "node:child_process";
import { type StartOptions, startProgram } from "./start-program.js";
import type { TrustedProgram } from "./trusted-program.js";

/** How to run a program until it ends. */
export interface RunOptions extends Pick<StartOptions, "env" | "cwd"> {
  /** Text for its standard input, which is empty otherwise. */
  readonly input?: string;
  /** Open descriptors that the program gets, from 3 up. */
  readonly descriptors?: readonly number[];
  /** Milliseconds after which the program is killed. Default: never. */
  readonly timeoutMs?: number;
  /** Bytes that each output may have; beyond that the program is killed. Default: 1 MiB. */
  readonly outputBytesMax?: number;
  /** Kills the program. */
  readonly signal?: AbortSignal;
}

/** How a program ended, and what it printed. */
export interface ProgramResult {
  /** The exit code; absent if the program did not end by itself. */
  readonly code?: number;
  /** What it wrote to standard output, as UTF-8. */
  readonly stdout: string;
  /** What it wrote to standard error, as UTF-8. */
  readonly stderr: string;
  /**
   * Why it did not end by itself or could not be started; the system's error code if there is one.
   */
  readonly failure?: string;
}

const OUTPUT_BYTES_MAX = 1_048_576;

/**
 * Runs a program until it ends and its output is complete. If it is killed early, every process in
 * its group is killed too (on Windows, only the program itself).
 *
 * @returns How it ended. The promise does not reject for anything that the program does.
 * @throws ConsentError `options_invalid` if the program does not come from `trustedProgram()`; the
 * signal's reason if it is aborted already.
 */
export async function runProgram(
  program: TrustedProgram,
  args: readonly string[],
  options: RunOptions,
): Promise<ProgramResult> {
  const { env, cwd, input, descriptors = [], signal } = options;
  signal?.throwIfAborted();
  // A group of its own: what it starts in turn ends with it, and holds its output open no longer.
  const stdio = [input === undefined ? "ignore" : "pipe", "pipe", "pipe", ...descriptors] as const;
  const child = startProgram(program, args, {
    env,
    ...(cwd !== undefined && { cwd }),
    stdio,
    isDetached: process.platform !== "win32",
  });
  child.stdin?.on("error", () => {}); // gone before it has read everything
  child.stdin?.end(input);
  return untilEnd(child, options);
}

/** Waits for the program's end; kills it where it must not go on. */
function untilEnd(
  child: ChildProcess,
  { timeoutMs, outputBytesMax = OUTPUT_BYTES_MAX, signal }: RunOptions,
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    let failure: string | undefined;
    const stop = (why: string): void => {
      failure ??= why;
      killGroup(child);
    };
    const stdout = collect(child.stdout, outputBytesMax, stop);
    const stderr = collect(child.stderr, outputBytesMax, stop);
    const onAbort = (): void => stop("aborted");
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer =
      timeoutMs === undefined ? undefined : setTimeout(() => stop("timed out"), timeoutMs);
    const settle = (code: number | null, name: string | null): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      const why = failure ?? (code === null ? `ended by ${name ?? "a signal"}` : undefined);
      resolve({
        stdout: stdout(),
        stderr: stderr(),
        ...(code !== null && failure === undefined && { code }),
        ...(why !== undefined && { failure: why }),
      });
    };
    child.once("error", (error) => {
      failure ??= "code" in error ? String(error.code) : error.message;
      if (child.pid === undefined) settle(null, null);
    });
    child.once("close", settle);
    child.once("exit", () => {
      if (failure === undefined) return;
      child.stdout?.destroy();
      child.stderr?.destroy();
    });
  });
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && process.platform !== "win32")
      process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    // it has ended by itself
  }
}

/** What a stream said, as text. */
function collect(
  stream: ChildProcess["stdout"],
  bytesMax: number,
  stop: (why: string) => void,
): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) stop("too much output");
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString("utf8");
}

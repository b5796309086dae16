/**
 * Start program: the one place outside of tests where a process is started. A program that was not looked at is refused, and nothing of our own
 * environment or working directory reaches it unless a caller names it.
 */
import { type ChildProcess, type IOType, spawn, type StdioOptions } from "node:child_process";
import type { Readable, Stream } from "node:stream";
import { ConsentError } from "@acp/core";
import { isTrustedProgram, type TrustedProgram } from "./trusted-program.js";

/** What a program is started with. */
export interface StartOptions {
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Left out: `/`, where nobody but root puts files. */
  readonly cwd?: string;
  /** A descriptor each; left out: pipes. */
  readonly stdio?: readonly (IOType | "ipc" | Stream | number | null)[];
  /** Whether it leads a session of its own. */
  readonly isDetached?: boolean;
}

/**
 * Starts a program. As with `spawn`, one that cannot be executed says so by the event `error`.
 *
 * @throws ConsentError `options_invalid` where the program was not made by `trustedProgram()`.
 */
export function startProgram(program: TrustedProgram, args: readonly string[], options: StartOptions): ChildProcess {
  if (!isTrustedProgram(program)) {
    throw new ConsentError("options_invalid", "Cannot start a program: it does not come from trustedProgram()");
  }
  const { env, cwd = "/", stdio = ["pipe", "pipe", "pipe"], isDetached = false } = options;
  const streams: StdioOptions = [...stdio];
  return spawn(program.path, [...args], { env: { ...env }, cwd, stdio: streams, detached: isDetached, windowsHide: true });
}

/** A process whose output we read. */
export type ReadableProcess = ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };

/** Whether both outputs are pipes of ours; a system without free descriptors makes none. */
export function hasOutput(child: ChildProcess): child is ReadableProcess {
  return child.stdout !== null && child.stderr !== null;
}

/** How a program is run to its end. */
export interface RunOptions extends Pick<StartOptions, "env" | "cwd"> {
  /** Written to its standard input, which is empty otherwise. */
  readonly input?: string;
  /** Open descriptors that it gets from 3 on. */
  readonly descriptors?: readonly number[];
  /** After that it is killed; left out: never. */
  readonly timeoutMs?: number;
  /** Bytes of either output that are taken before it is killed; left out: 1 MiB. */
  readonly outputBytesMax?: number;
  readonly signal?: AbortSignal;
}

/** How a program ended, and what it said. */
export interface ProgramResult {
  /** Left out where it did not end by itself. */
  readonly code?: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it did not end by itself, or could not be started; the code of the system where there is one. */
  readonly failure?: string;
}

const OUTPUT_BYTES_MAX = 1_048_576;

/**
 * Runs a program to its end. Never rejects for what the program does.
 *
 * @throws ConsentError `options_invalid` where the program was not made by `trustedProgram()`.
 */
export async function runProgram(program: TrustedProgram, args: readonly string[], options: RunOptions): Promise<ProgramResult> {
  const { env, cwd, input, descriptors = [], timeoutMs, outputBytesMax = OUTPUT_BYTES_MAX, signal } = options;
  signal?.throwIfAborted();
  // A group of its own: what it starts in turn ends with it, and holds its output open no longer.
  const stdio = [input === undefined ? "ignore" : "pipe", "pipe", "pipe", ...descriptors] as const;
  const child = startProgram(program, args, { env, ...(cwd !== undefined && { cwd }), stdio, isDetached: process.platform !== "win32" });
  return new Promise((resolve) => {
    let failure: string | undefined;
    const stop = (why: string): void => {
      failure ??= why;
      killGroup(child);
    };
    const [stdout, stderr] = [collect(child.stdout, outputBytesMax, stop), collect(child.stderr, outputBytesMax, stop)];
    const onAbort = (): void => stop("aborted");
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop("timed out"), timeoutMs);
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
    child.stdin?.on("error", () => {}); // gone before it has read everything
    child.stdin?.end(input);
  });
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    // it has ended by itself
  }
}

/** What a stream said, as text. */
function collect(stream: ChildProcess["stdout"], bytesMax: number, stop: (why: string) => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) stop("too much output");
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString("utf8");
}

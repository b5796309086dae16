/**
 * Start program: the only place outside of tests that starts a process. It refuses a program that
 * was not checked, and passes on nothing of our own environment or working directory unless a
 * caller names it.
 */
import { type ChildProcess, type IOType, spawn, type StdioOptions } from "node:child_process";
import type { Readable, Stream } from "node:stream";
import { ConsentError } from "@acp/core";
import { isTrustedProgram, type TrustedProgram } from "./trusted-program.js";

/** How to start a program. */
export interface StartOptions {
  /** The program's whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Working directory. Default: `/`, where only root puts files. */
  readonly cwd?: string;
  /** One entry for each descriptor. Default: pipes for 0, 1 and 2. */
  readonly stdio?: readonly (IOType | "ipc" | Stream | number | null)[];
  /** Whether the program leads a session of its own. Default: false. */
  readonly isDetached?: boolean;
}

/**
 * Starts a program. As with `spawn`, an `error` event reports a program that cannot be executed.
 *
 * @throws ConsentError `options_invalid` if the program does not come from `trustedProgram()`.
 */
export function startProgram(
  program: TrustedProgram,
  args: readonly string[],
  options: StartOptions,
): ChildProcess {
  if (!isTrustedProgram(program)) {
    throw new ConsentError(
      "options_invalid",
      "Cannot start a program: it does not come from trustedProgram()",
    );
  }
  const { env, cwd = "/", stdio = ["pipe", "pipe", "pipe"], isDetached = false } = options;
  const streams: StdioOptions = [...stdio];
  return spawn(program.path, [...args], {
    env: { ...env },
    cwd,
    stdio: streams,
    detached: isDetached,
    windowsHide: true,
  });
}

/** A child process whose standard output and standard error are pipes that we read. */
export type ReadableProcess = ChildProcess & {
  readonly stdout: Readable;
  readonly stderr: Readable;
};

/** True if both outputs are pipes of ours; a system without free descriptors makes none. */
export function hasOutput(child: ChildProcess): child is ReadableProcess {
  return child.stdout !== null && child.stderr !== null;
}

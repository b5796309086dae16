/**
 * Exit code: how an agent ended, as a number, in the way of shells.
 */
import { constants } from "node:os";
import type { SandboxExit } from "@acp/core";

const SIGNALS: Readonly<Record<string, number>> = constants.signals;

/** 128 and the signal's number; one that has none counts as SIGKILL. */
export function codeOfSignal(signal: string): number {
  return 128 + (SIGNALS[signal] ?? constants.signals.SIGKILL);
}

/** The agent's own code, or what stands for its signal. */
export function codeOfExit(exit: SandboxExit): number {
  return exit.signal === undefined ? exit.code : codeOfSignal(exit.signal);
}

/**
 * RunApproved: performs what was judged, through the gate that judged it: the same bytes, in the
 * same directory, shell and environment. A verdict whose directory or environment is not the same
 * any more runs nothing; the agent asks anew.
 */
import { realpath } from "node:fs/promises";
import {
  type Action,
  type Allowed,
  type Clock,
  type ConsentGate,
  type Denied,
  isShellAction,
  type Release,
  type RunResult,
} from "@acp/core";
import { makeEnvironment, type EnvironmentSource, type ExecEnvironment } from "./environment.js";
import type { OutputTaker } from "./executor/output.js";
import { BASH, type CommandOutcome, runShell } from "./executor/run-shell.js";
import { refuse } from "./hub-refusal.js";

/** How an approved command runs. */
export interface RunOptions {
  /** Ends the command and everything that it started. */
  readonly signal?: AbortSignal | undefined;
  /** Takes the output as it comes; it is dropped unless given. */
  readonly onOutput?: OutputTaker;
  /** How long it may run, in milliseconds; 600,000 unless given. */
  readonly timeoutMs?: number;
  /** How much it may write, in bytes, both streams together; 16 MiB unless given. */
  readonly outputBytesMax?: number;
}

/** How long a command may run unless the caller says otherwise. */
export const RUN_TIMEOUT_MS = 600_000;
/**
 * Bytes that a command may write unless the caller says otherwise: more than anybody reads, and no
 * more than fits into memory.
 */
export const OUTPUT_BYTES_MAX: number = 16 * 1024 * 1024;

/** What the environment of a verdict was made of, read again when it runs. */
export type ApprovedSource = () => Omit<EnvironmentSource, "cwd">;

/** What a run needs besides its verdict. */
export interface RunParts {
  readonly gate: Pick<ConsentGate, "perform">;
  readonly clock: Clock;
  /** The source of a verdict; `undefined` where this hub gave no such verdict. */
  readonly sourceOf: (verdict: Allowed) => ApprovedSource | undefined;
}

const REMEDY = "Ask for the command again";

/** The environment as it is now; `undefined` where the host's variables cannot be had. */
async function readEnvironment(
  source: ApprovedSource,
  cwd: string,
): Promise<ExecEnvironment | undefined> {
  try {
    return await makeEnvironment({ ...source(), cwd });
  } catch {
    return undefined;
  }
}

/** The environment that was judged, or why it cannot be had. */
async function environmentOf(
  action: Action,
  source: ApprovedSource,
): Promise<ExecEnvironment | Denied> {
  if (!isShellAction(action) || action.meta.shell !== BASH)
    return refuse("permit_refused", `only commands for ${BASH} are run`, REMEDY);
  const { cwd = "", envDigest } = action.meta;
  if ((await realpath(cwd).catch(() => undefined)) !== cwd)
    return refuse("permit_refused", "the working directory is not the one that was judged", REMEDY);
  const environment = await readEnvironment(source, cwd);
  if (environment === undefined || environment.digest !== envDigest)
    return refuse("permit_refused", "the environment is not the one that was judged", REMEDY);
  return environment;
}

function perform(
  { action, signal, masker }: Release,
  { variables }: ExecEnvironment,
  {
    clock,
    onOutput,
    timeoutMs = RUN_TIMEOUT_MS,
    outputBytesMax = OUTPUT_BYTES_MAX,
  }: Omit<RunOptions, "signal"> & Pick<RunParts, "clock">,
): Promise<CommandOutcome> {
  if (!isShellAction(action)) throw new Error("the action is not a command");
  const { args: command, meta } = action;
  const take: OutputTaker = onOutput ?? (() => undefined);
  return runShell({
    command,
    cwd: meta.cwd ?? "/",
    variables,
    signal,
    timeoutMs,
    outputBytesMax,
    clock,
    take,
    masker,
  });
}

/**
 * Runs an approved command once.
 *
 * @throws What `onOutput` throws, after the command was ended and recorded.
 */
export async function runApproved(
  { gate, clock, sourceOf }: RunParts,
  verdict: Allowed,
  { signal, ...options }: RunOptions = {},
): Promise<RunResult<CommandOutcome>> {
  const source = sourceOf(verdict);
  if (source === undefined)
    return {
      ran: false,
      verdict: refuse("permit_refused", "this hub gave no such verdict", REMEDY),
    };
  const environment = await environmentOf(verdict.action, source);
  if ("decision" in environment) return { ran: false, verdict: environment };
  return gate.perform(
    verdict,
    (release) => perform(release, environment, { ...options, clock }),
    signal === undefined ? {} : { signal },
  );
}

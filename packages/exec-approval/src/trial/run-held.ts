/**
 * Run held: lets a trial's command begin, hands on its output within bounds, and says how it ended.
 */
import type { Readable } from "node:stream";
import type { Clock, HeldTrial, Release, RunningTrial, TrialWrites } from "@acp/core";
import { followOutput, type OutputTaker } from "../executor/output.js";
import { type CommandOutcome, makeStopper, type Stop } from "../executor/run-shell.js";
import type { TrialEnd } from "./trial-result.js";

/** How it runs. */
export interface HeldRun {
  readonly signal: AbortSignal;
  readonly masker: Release["masker"];
  readonly take: OutputTaker;
  readonly timeoutMs: number;
  readonly outputBytesMax: number;
  readonly clock: Clock;
}

/** How it ended, and what it wrote; `undefined` where that is not known, and so cannot be kept. */
export interface HeldEnd {
  readonly outcome: TrialEnd;
  readonly writes: TrialWrites | undefined;
}

/**
 * How long a slow taker of the last output is waited for while nothing moves, and where it moves.
 */
const [QUIET_MS, LONGEST_MS] = [500, 5_000];

/**
 * Runs it to its end. Whatever happens, nothing of it runs any more afterwards.
 *
 * @throws What `take` throws, or what keeps the command from beginning.
 */
export async function runHeld(held: HeldTrial<Readable>, run: HeldRun): Promise<HeldEnd> {
  const running = await held.go();
  let isFrozen = false;
  try {
    const outcome = await follow(running, run);
    if (run.signal.aborted) return { outcome, writes: undefined };
    isFrozen = true;
    return { outcome, writes: await running.freeze().catch(() => undefined) };
  } finally {
    if (!isFrozen) await running.close();
  }
}

async function follow(running: RunningTrial<Readable>, run: HeldRun): Promise<TrialEnd> {
  const stopper = makeStopper(run);
  const { take, masker, outputBytesMax: bytesMax } = run;
  const { stdout, stderr, exited } = running;
  const output = followOutput(
    { stdout, stderr },
    { take, masker, bytesMax, onExcess: () => stopper.stop("output_limit") },
  );
  // A taker that throws ends the command; what it threw is told at the end.
  output.done.catch(() => stopper.stop("aborted"));
  const why = await Promise.race([exited.then(() => undefined), stopper.stopped]);
  if (why !== undefined) running.kill();
  const exit = await exited;
  const isSettled = await Promise.race([
    output.settledWithin(QUIET_MS, LONGEST_MS),
    stopper.stopped.then(() => false),
  ]);
  if (!isSettled) output.close();
  stopper.disarm();
  if (!run.signal.aborted) await output.done;
  return endOf(exit, running.excess(), {
    why: output.isExceeded() ? "output_limit" : why,
    outputBytes: output.bytes(),
  });
}

interface Ended {
  readonly why: Stop | undefined;
  readonly outputBytes: number;
}

function endOf(
  { code, signal }: Awaited<RunningTrial<Readable>["exited"]>,
  excess: string | undefined,
  { why, outputBytes }: Ended,
): TrialEnd {
  if (excess !== undefined) return { end: "resource_limit", reason: excess, outputBytes };
  if (why !== undefined) return { end: why, outputBytes };
  const ended: CommandOutcome =
    code !== undefined
      ? { end: "exited", exitCode: code, outputBytes }
      : { end: "signalled", signal: signalOf(signal), outputBytes };
  return ended;
}

function signalOf(name: string | undefined): NodeJS.Signals {
  return name !== undefined && isSignal(name) ? name : "SIGKILL";
}

function isSignal(name: string): name is NodeJS.Signals {
  return /^SIG[A-Z0-9]+$/u.test(name);
}

/**
 * Steps: showing a question first here, later there. By time counted from when it was asked, so
 * that a restart changes nothing, or at once where it could be shown nowhere so far.
 */
import type { Clock } from "../types/clock.js";
import type { DeliveryFailure, Showing } from "./composite.js";

/** Why a step was taken. */
export type StepReason = "time" | "not_delivered";

/** A question and its steps. */
export interface StepRun<S extends { readonly afterMs: number }> {
  readonly clock: Clock;
  readonly createdAtMs: number;
  /** In the order of their times. */
  readonly steps: readonly S[];
  /** How many of them were taken before, by an earlier process. */
  readonly reached: number;
  /** Aborts when the question is over. */
  readonly over: AbortSignal;
  /**
   * Shows the question: what is due from the start for `undefined`, otherwise what the step adds.
   * `skip` names where it stands already. Never rejects.
   */
  readonly show: (step: S | undefined, skip: ReadonlySet<string>) => Promise<Showing>;
  /** Takes the step at this place; false where it cannot be taken any more. */
  readonly reach: (at: number, reason: StepReason) => Promise<boolean>;
}

/** What was tried so far. */
interface Attempts<S extends { readonly afterMs: number }> {
  readonly run: StepRun<S>;
  readonly standing: Set<string>;
  readonly failed: DeliveryFailure[];
  readonly tries: Promise<void>[];
  readonly onShown: () => void;
}

function attempt<S extends { readonly afterMs: number }>(
  attempts: Attempts<S>,
  step: S | undefined,
): void {
  const { run, standing, failed, tries, onShown } = attempts;
  const note = ({ shown, failed: refusing }: Showing): void => {
    for (const name of shown) standing.add(name);
    failed.push(...refusing);
    if (standing.size > 0) onShown();
  };
  tries.push(run.show(step, new Set(standing)).then(note));
}

/** Resolves when all that was tried has failed; never where it stands somewhere. */
async function allFailed<S extends { readonly afterMs: number }>({
  standing,
  tries,
}: Attempts<S>): Promise<StepReason> {
  for (let seen = 0; seen < tries.length; ) {
    seen = tries.length;
    await Promise.all(tries);
  }
  return standing.size === 0 ? "not_delivered" : new Promise(() => undefined);
}

async function takeSteps<S extends { readonly afterMs: number }>(
  attempts: Attempts<S>,
): Promise<void> {
  const { steps, reached, reach, clock, createdAtMs, over } = attempts.run;
  attempt(attempts, undefined);
  for (const [at, step] of steps.entries()) {
    if (at >= reached) {
      const due = clock
        .sleep(Math.max(0, createdAtMs + step.afterMs - clock.now()), { signal: over })
        .then((): StepReason => "time");
      due.catch(() => undefined);
      const reason = await Promise.race([due, allFailed(attempts)]);
      if (over.aborted || !(await reach(at, reason))) return;
    }
    attempt(attempts, step);
  }
  await allFailed(attempts);
}

/**
 * Takes every step in its time. Resolves when the question stands somewhere, or when it is over or
 * can stand nowhere; the steps go on.
 */
export function showInSteps<S extends { readonly afterMs: number }>(
  run: StepRun<S>,
): Promise<Showing> {
  const standing = new Set<string>();
  const failed: DeliveryFailure[] = [];
  return new Promise((resolve) => {
    const report = (): void => resolve({ shown: [...standing], failed });
    run.over.addEventListener("abort", report, { once: true });
    // A step that is not taken because the question is over is no failure.
    takeSteps({ run, standing, failed, tries: [], onShown: report }).then(report, report);
  });
}

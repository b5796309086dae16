/**
 * AwaitOutcome: waits a little for what the logs say became of one question.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { QuestionOutcome } from "@acp/channel-web";
import type { LoggedOutcomes } from "./logged-outcomes.js";

const LOOK_EVERY_MS = 100;
/**
 * Longer than a gate takes to write an end and begin the call; who wants to know more looks at the
 * log later.
 */
const PATIENCE_MS = 3_000;

const isSettled = ({ run }: QuestionOutcome): boolean =>
  run === undefined || (run.state !== "waiting" && run.state !== "started");

/**
 * What is known once it is settled, or when patience ends; `undefined` where the logs have no end
 * of it, or cannot be read.
 */
export async function awaitOutcome(
  outcomes: LoggedOutcomes,
  id: string,
): Promise<QuestionOutcome | undefined> {
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const [outcome] = await outcomes.find([id]).catch(() => []);
    if ((outcome !== undefined && isSettled(outcome)) || waitedMs >= PATIENCE_MS) return outcome;
    await wait(LOOK_EVERY_MS);
  }
}

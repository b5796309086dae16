/**
 * `acp pause`: every question of the home's gates is denied, or every call of one agent, for a
 * while or until `--off`.
 */
import { ConsentError, escapeText, isoTime } from "@acp/core";
import type { PausedEnd } from "@acp/core";
import { clearPause, pauseAgent, resumeAgent, setPause } from "@acp/home";
import type { Home, PauseEnd } from "@acp/home";
import type { Invocation, Run } from "../command.js";
import { parseDuration } from "../duration.js";
import type { Exit } from "../exit-codes.js";
import { homeOf } from "../home/home-source.js";
import { attachToGates } from "../gate/run-directory.js";

/** Runs the command. */
export const pause: Run = async (invocation) => {
  const { operands, flags, values, print } = invocation;
  const [duration] = operands;
  const off = flags.has("off");
  if (off && duration !== undefined)
    throw new ConsentError(
      "options_invalid",
      `Cannot use --off with "${duration}": ending a pause takes no duration`,
    );
  const untilMs = duration === undefined ? undefined : Date.now() + parseDuration(duration);
  const home = await homeOf(invocation);
  if (values.agent !== undefined)
    return off
      ? resume(invocation, home, values.agent)
      : pauseOne(invocation, home, untilMs ?? "until-off");
  if (off) {
    const was = await clearPause(home);
    print.result({ paused: false, was }, () => [
      was ? "The pause is over: questions are asked again" : "Nothing was paused",
    ]);
    return "ok";
  }
  await setPause(home, untilMs ?? "until-off");
  const until = untilMs === undefined ? "until-off" : isoTime(untilMs);
  print.result({ paused: true, until }, () => [
    `Every question is denied ${untilMs === undefined ? "until acp pause --off" : `until ${until}`}; calls that the policy allows still run`,
  ]);
  return "ok";
};

async function resume({ print }: Invocation, home: Home, agent: string): Promise<Exit> {
  const was = await resumeAgent(home, agent);
  print.result({ agent, paused: false, was }, () => [
    `${escapeText(agent)} ${was ? "is no longer paused" : "was not paused"}`,
  ]);
  return "ok";
}

/**
 * First the pause, so that nothing new is asked and no yes goes through; then the open questions.
 */
async function pauseOne(invocation: Invocation, home: Home, end: PauseEnd): Promise<Exit> {
  const { print, values } = invocation;
  const agent = values.agent ?? "";
  await pauseAgent(home, agent, end);
  const { ended: denied, left } = await endQuestions(invocation);
  const until = typeof end === "number" ? isoTime(end) : end;
  print.result({ agent, paused: true, until, denied, left }, () => [
    `Every call of ${escapeText(agent)} is denied ${typeof end === "number" ? `until ${until}` : "until acp pause --agent … --off"}`,
    `${denied} open ${denied === 1 ? "question" : "questions"} denied${left === 0 ? "" : `; ${left} could not be, but approving them starts nothing`}`,
  ]);
  return "ok";
}

/**
 * Each gate ends what it has open of the agent, also what the person at this machine may not
 * answer.
 */
async function endQuestions(invocation: Invocation): Promise<PausedEnd> {
  await using clients = await attachToGates(invocation, "approver", new AbortController().signal);
  return await clients.endPaused();
}

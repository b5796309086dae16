/**
 * `acp pause`: every question of the home's gates is denied, for a while or until `--off`.
 */
import { ConsentError, isoTime } from "@acp/core";
import { clearPause, setPause } from "@acp/home";
import type { Run } from "../command.js";
import { parseDuration } from "../duration.js";
import { homeOf } from "../home-source.js";

/** Runs the command. */
export const pause: Run = async (invocation) => {
  const { operands, flags, print } = invocation;
  const [duration] = operands;
  const off = flags.has("off");
  if (off && duration !== undefined) throw new ConsentError("options_invalid", `Cannot use --off with "${duration}": a pause ends at once`);
  const untilMs = duration === undefined ? undefined : Date.now() + parseDuration(duration);
  const home = await homeOf(invocation);
  if (off) {
    const was = await clearPause(home);
    print.result({ paused: false, was }, () => [was ? "The pause is over: questions are asked again" : "Nothing was paused"]);
    return "ok";
  }
  await setPause(home, untilMs ?? "until-off");
  const until = untilMs === undefined ? "until-off" : isoTime(untilMs);
  print.result({ paused: true, until }, () => [
    `Every question is denied ${untilMs === undefined ? "until acp pause --off" : `until ${until}`}; what the policy allows still goes on`,
  ]);
  return "ok";
};

/**
 * `acp exec hook`: judges the command that a coding agent is about to run. One event on standard
 * input, one answer on standard output. Here the process answers alone; where a resident serves the
 * home, src/hook-client.ts asks that one, and none of this is loaded.
 */
import type { Run } from "../command.js";
import { answerHook } from "../hook/answer.js";
import { openDesk } from "../hook/desk.js";
import { homePath } from "../home/home-source.js";
import { startForLater } from "../resident/start-for.js";

/** Runs the command. */
export const execHook: Run = async (invocation) => {
  const { io, flags } = invocation;
  if (flags.has("check")) return (await import("../hook-check/check.js")).checkHooks(invocation);
  const dir = homePath(invocation);
  await using desk = openDesk(dir, invocation);
  const { stdout, stderr, exit } = await answerHook(invocation, desk, new AbortController().signal);
  io.stdout.write(stdout);
  io.stderr.write(stderr);
  await startForLater(dir, invocation);
  return exit;
};

/**
 * `acp exec hook`: judges the command that a coding agent is about to run. One event on standard
 * input, one answer on standard output. Here the process answers alone; where a resident serves the
 * home, src/hook-client.ts asks that one, and none of this is loaded.
 */
import type { Command, Run } from "../command.js";
import { answerHook } from "../hook/answer.js";
import { openDesk } from "../hook/desk.js";
import { homePath } from "../home/home-source.js";
import { serveHooks } from "../hook/resident.js";
import { startResident } from "../hook/start-resident.js";

/**
 * Makes the command.
 *
 * @param commands - What a resident reads the command lines of its hooks with.
 */
export const createExecHook =
  (commands: readonly Command[]): Run =>
  async (invocation) => {
    const { io, flags } = invocation;
    if (flags.has("resident")) return serveHooks(invocation, commands);
    if (flags.has("check")) return (await import("../hook-check/check.js")).checkHooks(invocation);
    const dir = homePath(invocation);
    await using desk = openDesk(dir, invocation);
    const { stdout, stderr, exit } = await answerHook(
      invocation,
      desk,
      new AbortController().signal,
    );
    io.stdout.write(stdout);
    io.stderr.write(stderr);
    await startResident(dir, invocation);
    return exit;
  };

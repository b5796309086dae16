/**
 * The running gates of a home: one approve socket each, `<home>/run/<pid>.sock`.
 */
import { join } from "node:path";
import { attachApprovers } from "@acp/channel-terminal";
import type { ApproverClients, ClientRole } from "@acp/channel-terminal";
import type { Invocation } from "../command.js";
import { failureOf, renderFailure } from "../failure.js";
import { homeOf } from "../home/home-source.js";
import { listFolder } from "../home/list-folder.js";

/** The directory of the sockets. */
export function runDirectory(home: string): string {
  return join(home, "run");
}

/**
 * Attaches to every running gate of the command's home.
 *
 * @throws ConsentError `home_invalid` where the home or its sockets cannot be looked at: that is not
 *   a home without gates.
 */
export async function attachToGates(
  { values, io, print }: Pick<Invocation, "values" | "io" | "print">,
  role: ClientRole,
  signal: AbortSignal,
): Promise<ApproverClients> {
  const directory = runDirectory((await homeOf({ values, io })).dir);
  await listFolder(directory, "is_empty");
  return attachApprovers({
    directory,
    role,
    signal,
    warn: (error) => print.notice(renderFailure(failureOf(error))),
  });
}

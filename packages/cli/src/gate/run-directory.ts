/**
 * The running gates of a home: one approve socket each, `<home>/run/<pid>.sock`.
 */
import { join } from "node:path";
import { attachApprovers } from "@acp/channel-terminal";
import type { ApproverClients, ClientRole } from "@acp/channel-terminal";
import type { Invocation } from "../command.js";
import { failureOf, renderFailure } from "../failure.js";
import { ownHomePath } from "../home/home-source.js";

/** The directory of the sockets. */
export function runDirectory(home: string): string {
  return join(home, "run");
}

/** Attaches to every running gate of the command's home. */
export function attachToGates(
  { values, io, print }: Pick<Invocation, "values" | "io" | "print">,
  role: ClientRole,
  signal: AbortSignal,
): Promise<ApproverClients> {
  const directory = runDirectory(ownHomePath({ values, io }));
  return attachApprovers({
    directory,
    role,
    signal,
    warn: (error) => print.notice(renderFailure(failureOf(error))),
  });
}

/**
 * At terminal: a client of the resident whose terminal is a person's, too (`--tty`). Questions of
 * the home's gates are asked there as in `acp approve`, over the approve sockets: nothing of them
 * goes over the connection that serves the agent.
 */
import { createRequire } from "node:module";
import { asError } from "@acp/core";
import { attachApprovers, createTerminalApprover } from "@acp/channel-terminal";
import type { Invocation } from "../command.js";
import { failureOf, renderFailure } from "../failure.js";
import { runDirectory } from "../gate/run-directory.js";
import { ownHomePath } from "../home/home-source.js";
import { makeHome } from "../home/make-home.js";
import { showsColour } from "../printer.js";

/** What resident-client.ts exports. */
interface ResidentClient {
  runResidentClient(): void;
}

/** Runs this process as a client of the resident, which ends it, and asks on its terminal. */
export async function serveAtTerminal(invocation: Invocation): Promise<never> {
  const client: unknown = createRequire(import.meta.url)("#resident-client");
  if (!isClient(client)) throw new Error("the installation of ACP is not whole");
  const asking = askHere(invocation);
  client.runResidentClient();
  await asking;
  return new Promise(() => undefined);
}

const isClient = (loaded: unknown): loaded is ResidentClient =>
  typeof loaded === "object" && loaded !== null && "runResidentClient" in loaded;

/** Nobody is asked here where there is no terminal: others may answer all the same. */
async function askHere(invocation: Invocation): Promise<void> {
  const { io, print } = invocation;
  try {
    const home = await makeHome(ownHomePath(invocation));
    const client = await attachApprovers({
      directory: runDirectory(home.dir),
      signal: new AbortController().signal,
      warn: (error) => print.notice(renderFailure(failureOf(error))),
    });
    try {
      const color = showsColour({ isTTY: true, write: () => true }, io.env);
      createTerminalApprover({ client, color });
    } catch (error) {
      await client.close();
      throw error;
    }
  } catch (error) {
    print.notice(`${asError(error).message}; nobody is asked on this terminal`);
  }
}

/**
 * Serve a session: what its client's command line asks for, as a process of its own would do it.
 */
import { commandNamed, readCommandLine } from "../command-line.js";
import type { Command, Invocation } from "../command.js";
import { serveMcp } from "../commands/mcp.js";
import { serveMcpHttp, serveMcpHttpLocked } from "../commands/mcp-serve.js";
import { serveProxy } from "../commands/proxy-http.js";
import { EXIT_CODES } from "../exit-codes.js";
import { exitOfError, failureOf } from "../failure.js";
import type { Failure } from "../failure.js";
import { createPrinter } from "../printer.js";
import type { Doors } from "./doors.js";
import type { HomeGates, SessionOfGates } from "./home-gates.js";
import type { SessionIo } from "./io.js";
import { serveProxyLocked } from "./locked-proxy.js";
import type { RunClient } from "./run-client.js";
import { serveRun } from "./serve-run.js";
import type { Hello } from "./wire.js";

/** What a session is served with. */
export interface Serving extends Omit<SessionOfGates, "invocation"> {
  readonly gates: HomeGates;
  readonly commands: readonly Command[];
  /** The doors of this session. */
  readonly doors: Doors;
  /** What its client holds, where that is an agent. */
  readonly run: RunClient;
}

/** How a session ended. */
export interface Served {
  /** The exit code of its client. */
  readonly code: number;
  /** What went wrong, for a client that says so itself. */
  readonly error?: Failure;
}

/** Serves it to its end. Never rejects. */
export async function serveSession(
  { io }: Pick<SessionIo, "io">,
  { argv }: Pick<Hello, "argv">,
  serving: Serving,
): Promise<Served> {
  const { commands, share, run } = serving;
  const end = argv.indexOf("--");
  const json = argv.slice(0, end === -1 ? argv.length : end).includes("--json");
  const print = createPrinter({ stdout: io.stdout, stderr: io.stderr, env: io.env, json });
  let isRun = false;
  try {
    const { command, ...line } = readCommandLine(argv, commands);
    isRun = command?.name === "run";
    // Its sandbox is being made: nobody waits for that.
    if (isRun) await run.held;
    await share.turn();
    // Many of one client may have come and gone meanwhile.
    if (io.onStop().aborted) return { code: EXIT_CODES.ok.code };
    if (command?.name === "exec hook") return { code: await serving.gates.hooks.answer(line, io) };
    // The terminal is the client's: it asks there as an approver, and never over this connection.
    const flags = new Set([...line.flags].filter((flag) => flag !== "tty"));
    const invocation: Invocation = { ...line, flags, io, print };
    return {
      code: await serveCommand(flags.has("alone") ? undefined : command, invocation, serving),
    };
  } catch (error) {
    const code = EXIT_CODES[commandNamed(argv, commands)?.failure ?? exitOfError(error)].code;
    if (isRun) return { code, error: failureOf(error) };
    print.failure(error);
    return { code };
  }
}

async function serveCommand(
  command: Command | undefined,
  invocation: Invocation,
  { gates, doors, run, ...own }: Serving,
): Promise<number> {
  if (command?.name === "proxy http") {
    const serveLocked = serveProxyLocked(doors);
    const exit = await serveProxy(invocation, gates.of({ invocation, ...own, serveLocked }), doors);
    return EXIT_CODES[exit].code;
  }
  if (command?.name === "mcp serve") {
    const serveLocked = serveMcpHttpLocked(doors);
    const exit = await serveMcpHttp(
      invocation,
      gates.of({ invocation, ...own, serveLocked }),
      doors,
    );
    return EXIT_CODES[exit].code;
  }
  if (command?.name === "run") {
    const serversOf: SessionOfGates["serversOf"] = ({ config }) => config?.servers ?? [];
    await serveRun(invocation, { gates: gates.of({ invocation, ...own, serversOf }), doors, run });
    return EXIT_CODES.ok.code;
  }
  if (command?.name === "mcp")
    return EXIT_CODES[await serveMcp(invocation, gates.of({ invocation, ...own }))].code;
  throw new Error(
    "the resident serves acp mcp, acp mcp serve, acp proxy http and acp run without --alone, and acp exec hook",
  );
}

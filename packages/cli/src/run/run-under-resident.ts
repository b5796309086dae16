/**
 * Run under the resident: the agent in its sandbox here, its gate in the one process of the home
 * that has the gates of all. Connections go there byte for byte; what holds the agent stays here.
 */
import { randomBytes } from "node:crypto";
import type { Duplex, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { ConsentError, asError, isConsentError } from "@acp/core";
import { nameView } from "@acp/sandbox-linux";
import type { Workspace } from "@acp/sandbox-linux";
import { buildOf, versionOf } from "../build-of.js";
import type { Invocation, Outcome } from "../command.js";
import { askHidden, terminalOf } from "../home/hidden-prompt.js";
import { runBody } from "../resident/run-frames.js";
import type { HeldRun } from "../resident/run-frames.js";
import { createRunLink } from "../resident/run-link.js";
import type { RunLink } from "../resident/run-link.js";
import { ENTRY, reachAgainFor, reachFor, releaseOf } from "../resident/start-for.js";
import { unlockResident } from "../resident/unlock-resident.js";
import { PROTOCOLS } from "../resident/wire.js";
import type { Hello } from "../resident/wire.js";
import type { UnderGateParts } from "./run-under-gate.js";
import { runAgent } from "./run-agent.js";
import { agentOfRun, hostOfRun } from "./run-gate.js";
import type { McpPipes, RunGate } from "./run-gate.js";
import { warningOf } from "./warning.js";

/** What is run, and from which home. */
export type UnderResidentParts = Omit<UnderGateParts, "tunnels">;

const REMEDY = "acp run --alone needs no resident gate";
/** Newer than nothing: an older resident that could not be replaced is not asked again. */
const NOTHING = { version: "", build: "" };

/**
 * Runs it to its end.
 *
 * @throws ConsentError `home_busy` where there is no resident; what its gate throws, and what holding
 *   the agent and {@link runAgent} throw.
 */
export async function runUnderResident(parts: UnderResidentParts): Promise<Outcome> {
  const { invocation, plan, holding } = parts;
  const link = linkOf(parts);
  try {
    // It connects while the sandbox is being made.
    const begun = link.begin();
    begun.catch(() => {}); // heard of by the gate, unless something else fails first
    const held = await holding;
    const agent = agentOfRun(invocation, plan);
    return await runAgent({ ...parts, held, agent }, gateOf(parts, link, begun));
  } finally {
    await link.close();
  }
}

function linkOf(parts: UnderResidentParts): RunLink {
  const { invocation, home, plan, hidden, programs, holding, servers } = parts;
  const { io, print } = invocation;
  let release = releaseOf();
  const secret = randomBytes(32).toString("hex");
  return createRunLink({
    async connect() {
      try {
        return await reachFor(home, invocation, { release, onOlder: () => (release = NOTHING) });
      } catch (error) {
        if (!isConsentError(error, "home_busy")) throw error;
        throw new ConsentError("home_busy", `${error.message}; ${REMEDY}`, { cause: error });
      }
    },
    reach: () => reachAgainFor(home, invocation),
    hello: helloOf(invocation, secret),
    async run(state) {
      const { report, view } = await holding;
      const { workspace } = plan;
      return runBody({
        report,
        ...(workspace !== undefined && { workspace: shownOf(workspace) }),
        // Held open there, it would keep the overlay; nobody but servers is shown it.
        ...(view !== undefined &&
          state !== "ended" &&
          servers.length > 0 && { view: nameView(view) }),
        hidden,
        programs,
        // oxlint-disable-next-line typescript/no-unnecessary-type-conversion -- Node leaves it out where there is no terminal
        isQuiet: Boolean(io.stderr.isTTY),
        state,
      });
    },
    notice: (bytes) => void io.stderr.write(bytes),
    say: (text) => print.notice(text),
  });
}

/** Without what only the agent's own sandbox needs. */
const shownOf = ({ path, access, writable }: Workspace): NonNullable<HeldRun["workspace"]> => ({
  path,
  access,
  ...(writable !== undefined && { writable }),
});

function helloOf({ io, values, flags, rest }: Invocation, secret: string): Hello {
  const { cwd, userHome, pid, ppid } = io;
  const env = Object.entries(io.env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const options = Object.entries(values).map(([name, value]) => `--${name}=${value}`);
  return {
    protocol: PROTOCOLS,
    version: versionOf(ENTRY),
    build: buildOf(ENTRY),
    argv: ["run", ...options, ...[...flags].map((flag) => `--${flag}`), "--", ...rest],
    cwd,
    userHome,
    env: Object.fromEntries(env),
    pid,
    ppid,
    umask: io.umask ?? process.umask(),
    secret,
  };
}

function gateOf(
  { invocation, holding, home, servers, signals }: UnderResidentParts,
  link: RunLink,
  begun: Promise<void>,
): RunGate {
  const { io, print } = invocation;
  return {
    async ready() {
      await unlessStopped(signals.stopped, unlocked(begun, { invocation, home, link }));
      if (print.json) return;
      for (const line of warningOf(hostOfRun((await holding).report), io))
        io.stderr.write(`${line}\n`);
    },
    attach(socket) {
      // Nothing of it is read before it is in, and each way ends by itself.
      socket.pause();
      socket.allowHalfOpen = true;
      socket.on("error", () => socket.destroy());
      link.queue.take("agent", socket);
    },
    speakMcp: (pipes) => speakMcp(pipes, link),
    say(code, text) {
      print.notice(text);
      return link.note(code, text);
    },
    tell(code, text) {
      print.notice(text);
      link
        .note(code, text)
        .catch((error: unknown) =>
          print.notice(error instanceof Error ? error.message : String(error)),
        );
    },
    endServers: () => (servers.length === 0 ? Promise.resolve() : link.end()),
  };
}

/**
 * Where the key needs a passphrase, it is asked for on the terminal, which the command gets
 * afterwards, and goes to the resident as `acp unlock` hands it over.
 */
async function unlocked(
  begun: Promise<void>,
  {
    invocation,
    home,
    link,
  }: Pick<UnderResidentParts, "invocation" | "home"> & {
    readonly link: RunLink;
  },
): Promise<void> {
  try {
    await begun;
  } catch (error) {
    if (!isConsentError(error, "key_locked")) throw error;
    using terminal = terminalOf(invocation.io);
    if (terminal === undefined) throw error;
    const passphrase = await askHidden(terminal, "Passphrase of the private key: ");
    await unlockResident(home, invocation, passphrase);
    await link.begin();
  }
}

function unlessStopped<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(asError(signal.reason));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject);
  });
}

/** Over a connection of its own. With that, the command has nobody to speak to any more. */
async function speakMcp({ input, output }: McpPipes, link: RunLink): Promise<string | undefined> {
  const entered = await link.queue.enter("mcp");
  if ("code" in entered) return `There are no MCP servers for the command: ${entered.reason}`;
  const { inner, first } = entered;
  inner.allowHalfOpen = true;
  inner.on("error", () => inner.destroy());
  if (first.length > 0) output.write(first);
  input.pipe(inner);
  pipeInto(inner, output);
  inner.resume();
  await finished(inner, { readable: true, writable: false }).catch(() => undefined);
  inner.destroySoon();
  return input.readableEnded || input.destroyed
    ? undefined
    : "The gate ended its MCP session with the command";
}

function pipeInto(from: Duplex, to: Writable): void {
  to.on("error", () => from.destroy());
  from.pipe(to);
}

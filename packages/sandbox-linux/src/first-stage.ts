/**
 * First stage, the manager's side: takes the listener, lets the stage inside try what must not
 * work, and compares its word with what the canaries saw. The stage is told to go once and last;
 * anything else leaves it waiting, and the caller ends it.
 */
import { randomBytes } from "node:crypto";
import type { ChildProcess } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { Server, type Socket } from "node:net";
import { join } from "node:path";
import { ConsentError, type SandboxAspect, type SandboxReport } from "@acp/core";
import { openCanaries, type OpenCanaries } from "./canaries.js";
import { inheritedDescriptors } from "./descriptors.js";
import type {
  ExpectedPlace,
  FirstStage,
  FirstStageFindings,
  FirstStageOrders,
  RunFirstStage,
  Session,
} from "./parts.js";
import { statOptional } from "./stat-optional.js";

/** Descriptor of the IPC channel in the child: `stdio[3]` is `"ipc"`. */
export const CHANNEL_FD = 3;

/** The longest that a first stage may take to report; on an idle host it takes 0.1 s. */
export const STAGE_TIME_MAX_MS = 120_000;

/**
 * `$1` is node, `$2` the stage, the rest the agent's own command line. The stage gets none of the
 * agent's environment: NODE_OPTIONS or LD_PRELOAD in it would change what is checked.
 */
const SCRIPT = `/usr/bin/env -i NODE_CHANNEL_FD=${CHANNEL_FD} NODE_CHANNEL_SERIALIZATION_MODE=json "$1" "$2" </dev/null >/dev/null || exit 125
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- #MORE
unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE OLDPWD
shift 2
exec "$@"`;

const BASH = "/bin/bash";

/** What the stage's shell needs to know. */
export interface StagePaths {
  /** node and first-stage.cjs, as paths inside. */
  readonly node: string;
  readonly stage: string;
  /**
   * The session's id, where the paths do not show it: on a command line of ours, so that what a
   * crash leaves over is found by it.
   */
  readonly name?: string;
  /** Descriptors to close besides those up to 9; what is inherited unless given. */
  readonly closing?: readonly number[];
}

/**
 * The command line to start inside: the stage, and in its place the agent. A program that cannot be
 * executed gives 126 or 127, as in a shell.
 */
export function firstStageCommand(
  { node, stage, name = "sh", closing = inheritedDescriptors() }: StagePaths,
  argv: readonly string[],
): readonly string[] {
  const high = closing.filter((fd) => fd > 9);
  const script = SCRIPT.replace("#MORE", high.map((fd) => `${fd}>&-`).join(" "));
  // A POSIX shell need not know descriptors above 9; without bash they stay the empty file that the
  // spawn put there. And bash whose input is a socket (what Node calls a pipe) takes itself for a
  // login over the network, and runs the user's .bashrc.
  const shell =
    high.length > 0 && statOptional(BASH) !== undefined
      ? [BASH, "--norc", "-p", "-c", script]
      : ["/bin/sh", "-c", SCRIPT];
  return [...shell, name, node, stage, ...argv];
}

/** Runs the manager's side; see {@link RunFirstStage}. */
export const runFirstStage: RunFirstStage = async (
  child,
  { mode, port, ports = [], listener, session, signal, places = [] },
) => {
  signal.throwIfAborted();
  const nonce = randomBytes(16).toString("hex");
  const messages = readMessages(child, signal, [port, ...ports]);
  await tellPort(session, port);
  await using canaries = await openCanaries(session.directory, nonce);
  const paths = places.map(({ path }) => path);
  await send(child, {
    mode,
    port,
    ports,
    nonce,
    canaries: canaries.places,
    places: paths,
  } satisfies FirstStageOrders);
  const server = listener ?? (await messages.listener(port));
  const connections = routeConnections(server, nonce);
  const further = new Map<number, Server>();
  try {
    if (listener === undefined) await send(child, { kind: "taken" });
    for (const each of ports) {
      further.set(each, await messages.listener(each));
      await send(child, { kind: "taken" });
    }
    const { findings: found, ids } = await messages.report();
    confirmPlaces(places, ids);
    const findings = await overrule(found, canaries);
    return {
      findings,
      listener: server,
      further: [...further.values()],
      go: ({ onConnection, ports: takers = NO_PORTS }): void => {
        messages.over.throwIfAborted();
        connections.go(onConnection);
        for (const [each, open] of further) open.on("connection", takers.get(each) ?? refuse);
        // The channel closes from inside; closed from here, Node would never say "close" of the
        // child. One that is gone by now is seen by its exit.
        child.send({ kind: "go" }, () => {});
      },
    } satisfies FirstStage;
  } catch (error) {
    if (listener === undefined) server.close();
    for (const each of further.values()) each.close();
    throw error;
  }
};

/** Where the MCP bridge finds the proxy: MCP clients pass few variables on to what they start. */
async function tellPort({ inside }: Session, port: number): Promise<void> {
  const path = join(inside, "proxy-port");
  await writeFile(path, `${port}\n`);
  await chmod(path, 0o644); // whatever the umask was
}

/** Aspects that a canary stands for. */
const CANARY_OF = {
  tcp: "tcp",
  udp: "udp",
  path_sockets: "pathSocket",
  abstract_sockets: "abstractSocket",
} as const satisfies Partial<Record<SandboxAspect, keyof FirstStageFindings>>;

/**
 * Compares what was found with what a report claims.
 *
 * @throws ConsentError `sandbox_failed` where the proxy was not reached, or a canary of an aspect
 *   that is said to be enforced was.
 */
export function confirmFindings(
  { sandbox, items }: SandboxReport,
  findings: FirstStageFindings,
): void {
  if (findings.proxy !== "reached") {
    throw new ConsentError(
      "sandbox_failed",
      `Cannot start an agent in "${sandbox}": inside, the proxy is not reachable (${findings.proxy})`,
    );
  }
  const isClaimed = (aspect: string): boolean =>
    items.some((item) => item.aspect === aspect && item.enforcement === "enforced");
  for (const [aspect, canary] of Object.entries(CANARY_OF)) {
    if (findings[canary] === undefined && isClaimed(aspect)) {
      throw new ConsentError(
        "sandbox_failed",
        `Cannot start an agent in "${sandbox}": its self-check got out by ${aspect}, which is reported as enforced`,
      );
    }
  }
}

/**
 * Checks that the stage, which has exactly the agent's rights, has lost what an agent must not
 * have.
 *
 * @throws ConsentError `sandbox_failed`.
 */
export function confirmPrivileges(
  sandbox: string,
  uid: number,
  { privileges }: FirstStageFindings,
): void {
  const wrong = [
    ...(privileges.uid === uid ? [] : [`it runs as uid ${privileges.uid}`]),
    ...(privileges.hasNoCapabilities ? [] : ["it has capabilities"]),
    ...(privileges.hasNoNewPrivileges ? [] : ["it could gain privileges"]),
    ...(privileges.hasSeccompFilter ? [] : ["it has no system call filter"]),
  ];
  if (wrong.length > 0)
    throw new ConsentError(
      "sandbox_failed",
      `Cannot start an agent in "${sandbox}": inside, ${wrong.join(", ")}`,
    );
}

/**
 * Compares what names inside lead to with what was judged: between the two, a name could be made to
 * lead elsewhere.
 *
 * @throws ConsentError `sandbox_failed`.
 */
export function confirmPlaces(places: readonly ExpectedPlace[], ids: readonly unknown[]): void {
  const wrong = places.find(({ device, inode }, index) => ids[index] !== `${device}:${inode}`);
  if (wrong === undefined) return;
  const text = `Cannot start an agent: "${wrong.path}" was replaced with something else while it was being shown`;
  throw new ConsentError("sandbox_failed", text);
}

/** What the canaries saw counts more than what the stage says. */
async function overrule(
  findings: FirstStageFindings,
  canaries: OpenCanaries,
): Promise<FirstStageFindings> {
  const reached = await canaries.reached();
  return { ...findings, ...Object.fromEntries([...reached].map((kind) => [kind, undefined])) };
}

/**
 * Until the word to go there is only the self-check: it gets its nonce back, whoever else connects
 * is cut off.
 */
function routeConnections(
  server: Server,
  nonce: string,
): { go(onConnection: (socket: Socket) => void): void } {
  let take = (socket: Socket): void => {
    let text = "";
    socket.on("error", () => socket.destroy());
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      text += chunk;
      if (text === nonce) socket.end(nonce);
      else if (!nonce.startsWith(text)) socket.destroy();
    });
  };
  server.on("connection", (socket: Socket) => take(socket));
  return {
    go: (onConnection) => {
      take = onConnection;
    },
  };
}

const NO_PORTS: ReadonlyMap<number, (socket: Socket) => void> = new Map();

function refuse(socket: Socket): void {
  socket.destroy();
}

interface Messages {
  /** The one for a port. */
  listener(port: number): Promise<Server>;
  /** `ids`: of the places, in their order, as device and inode. */
  report(): Promise<{ readonly findings: FirstStageFindings; readonly ids: readonly unknown[] }>;
  /** Aborts when the stage is gone. */
  readonly over: AbortSignal;
}

/**
 * The stage's messages. The stage is our own file, but it runs where the agent's rights end: what
 * it says is checked for its shape.
 */
function readMessages(
  child: ChildProcess,
  signal: AbortSignal,
  ports: readonly number[],
): Messages {
  const { over, fail } = watchStage(child);
  const either = AbortSignal.any([signal, over.signal]);
  const ended = new Promise<never>((_, reject) =>
    either.addEventListener("abort", () => reject(errorOf(either.reason)), { once: true }),
  );
  ended.catch(() => {}); // may come when nobody waits any more
  // Listened for from the start: an answer may be there before its question is seen to be sent.
  const first = (kind: string, of?: number): Promise<readonly [unknown, unknown]> =>
    new Promise((resolve) => {
      child.on("message", (message: unknown, handle: unknown) => {
        if (
          isKind(message, kind) &&
          (of === undefined || ("port" in message && message.port === of))
        )
          resolve([message, handle]);
      });
    });
  const report = first("report");
  const listeners = new Map(ports.map((port) => [port, first("listener", port)]));
  // A Node that gets too few threads at its start (the host is at its limit of processes) waits for
  // them for ever.
  const timer = setTimeout(
    () => fail("the first stage inside is silent"),
    STAGE_TIME_MAX_MS,
  ).unref();
  void Promise.race([report, ended]).then(
    () => clearTimeout(timer),
    () => clearTimeout(timer),
  );
  return {
    over: over.signal,
    listener: async (port) => {
      const [, handle] = await Promise.race([listeners.get(port) ?? ended, ended]);
      if (!(handle instanceof Server))
        throw new ConsentError(
          "sandbox_failed",
          "Cannot start an agent: no listener came out of it",
        );
      return handle;
    },
    report: async () => {
      const [message] = await Promise.race([report, ended]);
      const { findings, ids } = isObject(message) ? message : {};
      return { findings: parseFindings(findings), ids: Array.isArray(ids) ? ids : [] };
    },
  };
}

/** Aborts when the stage fails, or is gone before its word to go. */
function watchStage(child: ChildProcess): {
  readonly over: AbortController;
  readonly fail: (text: string) => void;
} {
  const over = new AbortController();
  const fail = (text: string): void =>
    over.abort(new ConsentError("sandbox_failed", `Cannot start an agent: ${text}`));
  child.once("error", (error) => fail(error.message));
  child.once("exit", (code, name) =>
    fail(`what it runs in ended with ${name ?? code} before the self-check was over`),
  );
  child.once("disconnect", () => fail("the first stage inside is gone"));
  child.on("message", (message: unknown) => {
    if (isKind(message, "failed") && "text" in message)
      fail(`the first stage inside failed: ${String(message.text).slice(0, 300)}`);
  });
  return { over, fail };
}

function errorOf(reason: unknown): Error {
  return reason instanceof Error
    ? reason
    : new ConsentError("aborted", "Cannot start an agent: its start was aborted", {
        cause: reason,
      });
}

function isKind(message: unknown, kind: string): message is { readonly kind: string } {
  return (
    typeof message === "object" && message !== null && "kind" in message && message.kind === kind
  );
}

/** JSON has no `undefined`: a canary that was reached is left out. */
function parseFindings(value: unknown): FirstStageFindings {
  const fields = isObject(value) ? value : {};
  const privileges = isObject(fields["privileges"]) ? fields["privileges"] : {};
  const text = (name: string): string | undefined =>
    typeof fields[name] === "string" ? fields[name] : undefined;
  return {
    privileges: {
      uid: typeof privileges["uid"] === "number" ? privileges["uid"] : 0,
      hasNoCapabilities: privileges["hasNoCapabilities"] === true,
      hasNoNewPrivileges: privileges["hasNoNewPrivileges"] === true,
      hasSeccompFilter: privileges["hasSeccompFilter"] === true,
    },
    proxy: text("proxy") ?? "no word about it",
    tcp: text("tcp"),
    udp: text("udp"),
    pathSocket: text("pathSocket"),
    abstractSocket: text("abstractSocket"),
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function send(child: ChildProcess, message: object): Promise<void> {
  return new Promise((resolve, reject) => {
    child.send(message, (error) =>
      error === null
        ? resolve()
        : reject(
            new ConsentError("sandbox_failed", `Cannot start an agent: ${error.message}`, {
              cause: error,
            }),
          ),
    );
  });
}

/**
 * Upstream: one server as a child process that speaks MCP on stdin and stdout.
 * Its stderr goes to the log, line by line. It runs in a process group of its own, so that what it starts (npx starts node) ends with it.
 */
import type { ChildProcess } from "node:child_process";
import { delimiter, resolve as resolvePath } from "node:path";
import type { Writable } from "node:stream";
import type { Clock } from "@acp/core";
import { hasOutput, type ReadableProcess, startProgram, trustedProgram } from "@acp/host";
import type { ServerFailure } from "./failure.js";
import { createLineSplitter, edgesOf } from "./framing.js";
import type { OversizeLine } from "./framing.js";
import { DRAIN_MS, EXIT_GRACE_MS, KILL_GRACE_MS, LINE_BYTES_MAX } from "./limits.js";
import { logStderr } from "./log-stderr.js";
import { logText } from "./log-text.js";
import { unmaskable } from "./masks.js";
import type { Masks } from "./masks.js";
import { readServerLine } from "./message.js";
import { createOutbox } from "./outbox.js";
import { errorLine } from "./rpc.js";
import type { RpcId } from "./rpc.js";

/** A server that is started as a child process. */
export interface CommandUpstream {
  /** What policies, people and logs call the server. */
  readonly name: string;
  /** Program and arguments; no shell reads them. */
  readonly command: readonly string[];
  /** The whole environment of the server; left out, it gets the proxy's. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Directories that an agent writes in, by real paths: no program is started from there. */
  readonly workspaces?: readonly string[];
}

/** What a server reports, and how it is heard. */
export interface UpstreamHandlers {
  readonly clock: Clock;
  readonly masks: Masks;
  /** Whether a request with this id waits for its answer. */
  readonly awaits: (id: RpcId) => boolean;
  /** A line without any secret that `masks` know. */
  readonly onLine: (line: Buffer) => void;
  readonly onOversize: (line: OversizeLine) => void;
  /** Once: the server is gone, and nothing more comes from it. Not called after {@link Upstream.close}. */
  readonly onEnd: (failure: ServerFailure) => void;
  /** `true` while the server reads slower than it is sent. */
  readonly onPressure: (on: boolean) => void;
  readonly log: (line: string) => void;
}

/** A running server. */
export interface Upstream {
  readonly name: string;
  /** Sends a line; nothing happens once the server is gone. */
  send(line: Buffer): void;
  /** Stops or resumes reading what the server says. */
  pause(on: boolean): void;
  /** Ends its input, then SIGTERM, then SIGKILL; resolves when it is gone. What it still says is still reported. */
  close(): Promise<void>;
}

type Child = ReadableProcess & { readonly stdin: Writable };

/** Starts a server. */
export function startUpstream(config: CommandUpstream, handlers: UpstreamHandlers): Upstream {
  const { name } = config;
  const child = start(config);
  if ("problem" in child) return neverStarted(name, `Cannot start server "${name}": ${child.problem}`, handlers);
  const outbox = createOutbox(child.stdin, { onPressure: handlers.onPressure });
  let closing = false;
  let over = false;
  let tellGone: () => void = () => {};
  const gone = new Promise<void>((resolve) => {
    tellGone = resolve;
  });
  const hear = maskedHearing(name, handlers, (line) => outbox.send(line));
  listen(child, config, {
    ...handlers,
    onLine: (line) => over || hear(line),
    onEnd(failure): void {
      if (over) return;
      over = true;
      tellGone();
      if (!closing) handlers.onEnd(failure);
    },
  });
  return {
    name,
    send: (line) => outbox.send(line),
    pause: (on) => void (on ? child.stdout.pause() : child.stdout.resume()),
    async close(): Promise<void> {
      closing = true;
      if (over) return;
      void outbox.end();
      if (await within(gone, EXIT_GRACE_MS)) return;
      signalGroup(child, "SIGTERM");
      if (await within(gone, KILL_GRACE_MS)) return;
      signalGroup(child, "SIGKILL");
      await gone;
    },
  };
}

/** Hears a server's lines masked. What cannot be masked is not heard; who waits for it is told. */
function maskedHearing(name: string, handlers: UpstreamHandlers, reply: (line: Buffer) => void): (line: Buffer) => void {
  const { masks, awaits, onLine, onOversize, log } = handlers;
  const isAwaited = (line: Buffer): boolean => {
    const { kind, id } = readServerLine(line);
    return kind === "response" && id !== undefined && awaits(id);
  };
  return (line) => {
    const masked = masks.line(line, () => isAwaited(line));
    // A label may be longer than its value.
    if (masked !== undefined) return masked.length > LINE_BYTES_MAX && masked !== line ? onOversize(edgesOf(masked)) : onLine(masked);
    log(`[${name}] sent a message that holds a secret across several values; it is dropped`);
    const { kind, id } = readServerLine(line);
    if (id === undefined) return undefined;
    const error = errorLine(id, unmaskable(name));
    if (kind === "request") reply(error);
    else if (awaits(id)) onLine(error);
    return undefined;
  };
}

function start({
  command: [program = "", ...args],
  env = ownEnvironment(),
  cwd = process.cwd(),
  workspaces = [],
}: CommandUpstream): Child | { readonly problem: string } {
  const directories = (env["PATH"] ?? "").split(delimiter);
  const found = trustedProgram(/[/\\]/u.test(program) ? resolvePath(cwd, program) : program, { directories, workspaces });
  if ("reason" in found) return { problem: found.isMissing ? notThere(program) : found.reason };
  const child = startProgram(found, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"], isDetached: process.platform !== "win32" });
  return isPiped(child) ? child : { problem: "the system has no free descriptors" };
}

function isPiped(child: ChildProcess): child is Child {
  return hasOutput(child) && child.stdin !== null;
}

function ownEnvironment(): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}

/** A server that there is no process of: it has failed as soon as somebody can hear of it. */
function neverStarted(name: string, reason: string, { onEnd }: UpstreamHandlers): Upstream {
  let closing = false;
  queueMicrotask(() => closing || onEnd({ server: name, reason }));
  return { name, send: () => undefined, pause: () => undefined, close: () => Promise.resolve(void (closing = true)) };
}

/** Reports what a server says, and its end, perhaps more than once. */
function listen(child: Child, { name, command }: CommandUpstream, handlers: UpstreamHandlers): void {
  const end = (reason: string): void => handlers.onEnd({ server: name, reason });
  const splitter = createLineSplitter(handlers);
  child.stdout.on("data", (chunk: Buffer) => splitter.push(chunk));
  child.stdout.on("end", () => {
    splitter.end();
    // Whoever says nothing more is as good as gone, also while the process lives on.
    setTimeout(() => {
      if (child.exitCode === null && child.signalCode === null) signalGroup(child, "SIGTERM");
      end(`Server "${name}" closed its output`);
    }, DRAIN_MS).unref();
  });
  child.stdout.on("error", () => {});
  logStderr(child.stderr, name, handlers);
  child.on("error", (error) => end(`Cannot start server "${name}": ${startProblem(error, command[0] ?? "")}`));
  child.on("exit", (code, signal) => {
    const reason = `Server "${name}" ${signal === null ? `exited with code ${code}` : `was ended by ${signal}`}`;
    child.once("close", () => end(reason));
    // A child of the server may keep its stdout open for ever.
    setTimeout(() => end(reason), DRAIN_MS).unref();
  });
}

function startProblem(error: Error, program: string): string {
  const code = "code" in error ? String(error.code) : "";
  if (code === "ENOENT") return notThere(program);
  if (code === "EACCES") return `command "${program}" may not be run`;
  return logText(error.message);
}

function notThere(program: string): string {
  return `command "${program}" or its working directory does not exist`;
}

/** Whether `event` came within `ms`. */
export function within(event: Promise<void>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    const came = async (): Promise<void> => {
      await event;
      clearTimeout(timer);
      resolve(true);
    };
    void came();
  });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // The group is gone already.
  }
}

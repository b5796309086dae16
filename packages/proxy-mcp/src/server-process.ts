/**
 * Server process: a running server, whoever started it, and the plain way to start one: as a child
 * process in its own process group, so that what it starts (npx starts node) ends with it.
 */
import type { ChildProcess } from "node:child_process";
import { delimiter, resolve as resolvePath } from "node:path";
import { Writable } from "node:stream";
import type { Readable } from "node:stream";
import type { Release } from "@acp/core";
import { hasOutput, type ReadableProcess, startProgram, trustedProgram } from "@acp/host";
import type { TrustedProgram } from "@acp/host";
import { logText } from "./log-text.js";

/** How a server ended. */
export interface ServerExit {
  /** Exit code; `undefined` if a signal ended it. */
  readonly code: number | undefined;
  /** Name of the signal that ended it, such as `SIGTERM`. */
  readonly signal: string | undefined;
  /** Why, where it is no process that ends: one sentence without a period. */
  readonly reason?: string;
}

/** A running server. */
export interface ServerProcess {
  /** Takes MCP messages for the server. */
  readonly stdin: Writable;
  /** MCP messages from the server. */
  readonly stdout: Readable;
  /** Lines of the server for the log. */
  readonly stderr: Readable;
  /** Resolves when the server is gone. Never rejects. */
  readonly exited: Promise<ServerExit>;
  /** Where other clients have it too: takes the secrets that a release of this client knows. */
  learn?(release: Pick<Release, "masker">): void;
  /** Asks the server to end. */
  stop(): void;
  /** Kills the server and everything that it started. */
  kill(): void;
}

/** What a server may take. Rules: spec/mcp-proxy.md §15. */
export interface UpstreamLimits {
  /** Bytes of one message of the server, at most 268,435,456. Default: 10,485,760. */
  readonly messageBytesMax?: number;
  /**
   * Milliseconds that the server may take for a tool call; then the client is told that its effect
   * is not known. Default: no limit.
   */
  readonly callTimeoutMs?: number;
  /** Tool calls that the server has at a time; further ones wait in order. Default: no limit. */
  readonly callsMax?: number;
  /** Milliseconds that the server may take to answer `initialize`. Default: that of the proxy. */
  readonly startTimeoutMs?: number;
}

/** A server that the proxy starts as a child process. */
export interface CommandUpstream {
  /** What policies, people and logs call the server. */
  readonly name: string;
  /** What the server may take. */
  readonly limits?: UpstreamLimits;
  /** Program and arguments; no shell reads them. */
  readonly command: readonly string[];
  /** The server's whole environment. Default: the proxy's. */
  readonly env?: Readonly<Record<string, string>>;
  /** The server's working directory. Default: the proxy's. */
  readonly cwd?: string;
  /** Directories that an agent may write in, as real paths. No program is started from them. */
  readonly workspaces?: readonly string[];
  /** The server's umask. Default: the proxy's. */
  readonly umask?: number;
  /**
   * Called with the ID of the server's process, which leads a group of its own, before anything is
   * sent to it; what it returns is called when that process has ended. Default: nothing.
   */
  readonly onStart?: (pid: number) => () => void;
  /**
   * True: the kernel kills the server's process when the proxy's ends, where there is `setpriv`
   * (Linux). Default: false.
   */
  readonly diesWithProxy?: boolean;
}

/** A server that the caller starts, such as one in a sandbox. */
export interface StartedUpstream {
  /** What policies, people and logs call the server. */
  readonly name: string;
  /** What the server may take. */
  readonly limits?: UpstreamLimits;
  /**
   * Starts another process of the server; each session has its own. If it rejects, the error's
   * message says why the server cannot be used.
   */
  readonly start: () => Promise<ServerProcess>;
}

/** A server that is started on this machine. */
export type LocalUpstream = CommandUpstream | StartedUpstream;

/** A server that is being started. */
export interface StartingServer {
  /** Takes what the server is sent, also before it runs. */
  readonly stdin: Writable;
  /** Rejects where it cannot be started. */
  readonly process: Promise<ServerProcess>;
}

type Child = ReadableProcess & { readonly stdin: Writable };

/** Starts a command as a child of ours. */
export function startCommand({
  command: [program = "", ...args],
  env = ownEnvironment(),
  cwd = process.cwd(),
  workspaces = [],
  umask,
  onStart,
  diesWithProxy = false,
}: CommandUpstream): StartingServer {
  const directories = (env["PATH"] ?? "").split(delimiter);
  const found = trustedProgram(/[/\\]/u.test(program) ? resolvePath(cwd, program) : program, {
    directories,
    workspaces,
  });
  if ("reason" in found) return failed(found.isMissing ? notThere(program) : found.reason);
  const tie = diesWithProxy ? findTie() : undefined;
  const start = (): ChildProcess =>
    startProgram(tie ?? found, tie === undefined ? args : [...TIED, found.path, ...args], {
      env,
      cwd,
      stdio: ["pipe", "pipe", "pipe"],
      isDetached: process.platform !== "win32",
    });
  const child = umask === undefined ? start() : withUmask(umask, start);
  if (!isPiped(child)) return failed("the system has no free descriptors");
  const onEnd = child.pid === undefined ? undefined : onStart?.(child.pid);
  const exited = new Promise<ServerExit>((resolve) => {
    child.once("exit", (code, signal) => {
      onEnd?.();
      resolve({ code: code ?? undefined, signal: signal ?? undefined });
    });
  });
  const running: ServerProcess = {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    stop: () => signalGroup(child, "SIGTERM"),
    kill: () => signalGroup(child, "SIGKILL"),
  };
  return {
    stdin: child.stdin,
    process: new Promise((resolve, reject) => {
      child.once("spawn", () => resolve(running));
      child.on("error", (error) => reject(new Error(startProblem(error, program))));
    }),
  };
}

/** Its process is replaced by the server's, which keeps the signal. */
const TIED = ["--pdeathsig", "KILL", "--"] as const;

function findTie(): TrustedProgram | undefined {
  if (process.platform !== "linux") return undefined;
  const found = trustedProgram("setpriv");
  return "reason" in found ? undefined : found;
}

/** A child inherits our umask: it is another one until the child is there. */
function withUmask<T>(umask: number, start: () => T): T {
  const own = process.umask(umask);
  try {
    return start();
  } finally {
    process.umask(own);
  }
}

function failed(problem: string): StartingServer {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  return { stdin: nowhere, process: Promise.reject(new Error(problem)) };
}

function isPiped(child: ChildProcess): child is Child {
  return hasOutput(child) && child.stdin !== null;
}

function ownEnvironment(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );
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

/** The group is left even where the child is gone: what it started is in it. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // The group is gone already.
  }
}

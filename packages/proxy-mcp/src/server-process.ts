/**
 * Server process: a server that runs, whoever has started it; and the plain way of starting one, as a child process in a process group of its own, so
 * that what it starts (npx starts node) ends with it.
 */
import type { ChildProcess } from "node:child_process";
import { delimiter, resolve as resolvePath } from "node:path";
import { Writable } from "node:stream";
import type { Readable } from "node:stream";
import { hasOutput, type ReadableProcess, startProgram, trustedProgram } from "@acp/host";
import { logText } from "./log-text.js";

/** How a server ended. */
export interface ServerExit {
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

/** A server that runs. */
export interface ServerProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles, never rejects, when the server is gone. */
  readonly exited: Promise<ServerExit>;
  /** Asks it to end. */
  stop(): void;
  /** Ends it and all that it started. */
  kill(): void;
}

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

/** A server that the caller starts, such as one in a sandbox. */
export interface StartedUpstream {
  /** What policies, people and logs call the server. */
  readonly name: string;
  /** Starts one more of it; each session has its own. Where it rejects, the message tells why the server cannot be used. */
  readonly start: () => Promise<ServerProcess>;
}

/** A server that is started here. */
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
}: CommandUpstream): StartingServer {
  const directories = (env["PATH"] ?? "").split(delimiter);
  const found = trustedProgram(/[/\\]/u.test(program) ? resolvePath(cwd, program) : program, { directories, workspaces });
  if ("reason" in found) return failed(found.isMissing ? notThere(program) : found.reason);
  const child = startProgram(found, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"], isDetached: process.platform !== "win32" });
  if (!isPiped(child)) return failed("the system has no free descriptors");
  const exited = new Promise<ServerExit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }));
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

function failed(problem: string): StartingServer {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  return { stdin: nowhere, process: Promise.reject(new Error(problem)) };
}

function isPiped(child: ChildProcess): child is Child {
  return hasOutput(child) && child.stdin !== null;
}

function ownEnvironment(): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
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

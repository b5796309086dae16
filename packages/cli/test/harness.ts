/**
 * The built `acp` as a real child process, in a home that is removed afterwards.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const BIN: string = fileURLToPath(new URL("../bin/acp.cjs", import.meta.url));
if (!existsSync(new URL("../dist/index.js", import.meta.url)))
  throw new Error("the CLI is not built: run `npm run setup`");

/** A directory that is removed with its holder. */
export interface Scratch extends AsyncDisposable {
  readonly path: string;
}

/** Makes a short-lived directory; its path is short, because sockets lie in it. */
export async function scratch(): Promise<Scratch> {
  const path = await mkdtemp(join(tmpdir(), "acp-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export interface AcpOptions {
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves when the text has been written to the stream; rejects when the process ends first. */
  readonly seen: (stream: "stdout" | "stderr", text: string | RegExp) => Promise<void>;
  readonly ended: Promise<Ended>;
}

/** An environment without the caller's own settings. */
function environment(options: AcpOptions): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return {
    ...(PATH !== undefined && { PATH }),
    ...(HOME !== undefined && { HOME }),
    ...(options.home !== undefined && { ACP_HOME: options.home }),
    // A test that wants a resident says so: it would outlive the others.
    ACP_ALONE: "1",
    // A busy machine is no reason to fail a test.
    ACP_HOOK_SECONDS: "600",
    ...options.env,
  };
}

/** Starts `acp` with the arguments. */
export function startAcp(args: readonly string[], options: AcpOptions = {}): Running {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: environment(options),
    cwd: options.cwd ?? tmpdir(),
    stdio: ["pipe", "pipe", "pipe"],
  });
  const texts = { stdout: "", stderr: "" };
  const watchers = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      texts[name] += chunk;
      for (const watch of watchers) watch();
    });
  }
  if (options.input !== undefined) child.stdin.end(options.input);
  const ended = new Promise<Ended>((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal, ...texts })),
  );
  const seen = (stream: "stdout" | "stderr", text: string | RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const watch = (): void => {
        if (typeof text === "string" ? !texts[stream].includes(text) : !text.test(texts[stream]))
          return;
        watchers.delete(watch);
        resolve();
      };
      watchers.add(watch);
      watch();
      void ended.then(({ code }) =>
        reject(
          new Error(
            `acp ended (${code}) before it wrote ${String(text)} to ${stream}; it wrote:\n${texts.stdout}\n${texts.stderr}`,
          ),
        ),
      );
    });
  return {
    child,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    seen,
    ended,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Runs `acp` to its end. */
export function acp(args: readonly string[], options: AcpOptions = {}): Promise<Ended> {
  return startAcp(args, { input: "", ...options }).ended;
}

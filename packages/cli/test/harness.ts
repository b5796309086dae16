/**
 * The built `acp` as a real child process, in a home that is removed afterwards. What only looks at
 * texts and exit codes is cheaper with acp-here.ts.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { environment } from "./environment.js";
import type { AcpOptions, Ended } from "./environment.js";

export { scratch } from "./environment.js";
export type { AcpOptions, Ended, Scratch } from "./environment.js";

export const BIN: string = fileURLToPath(new URL("../bin/acp.cjs", import.meta.url));
/** Variables of a process that the resident of its home serves; whoever uses them ends it. */
export const RESIDENT = { ACP_ALONE: "0", ACP_RESIDENT_SECONDS: "600" } as const;

if (!existsSync(new URL("../dist/index.js", import.meta.url)))
  throw new Error("the CLI is not built: run `npm run setup`");

export interface Running extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves when the text has been written to the stream; rejects when the process ends first. */
  readonly seen: (stream: "stdout" | "stderr", text: string | RegExp) => Promise<void>;
  readonly ended: Promise<Ended>;
}

/** Starts `acp` with the arguments. */
export function startAcp(args: readonly string[], options: AcpOptions = {}): Running {
  const child = spawn(process.execPath, [options.bin ?? BIN, ...args], {
    env: environment(options),
    cwd: options.cwd ?? tmpdir(),
    detached: options.isDetached === true,
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

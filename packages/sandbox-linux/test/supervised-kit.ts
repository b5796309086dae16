/**
 * Supervised kit: agents of landlock, preload and env, started here or by a manager that is
 * somebody else.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import type { Socket } from "node:net";
import type { SandboxExit, SandboxReport, SandboxSpawnOptions } from "@acp/core";
import { type HostNeed, hostNeed } from "@acp/testing";
import { bundled } from "../../../tools/bundled.js";
import { nativeHelper } from "../src/native-helper.js";
import type { LinuxSandbox, LinuxSandboxedProcess } from "../src/parts.js";
import { whyClosed } from "./checkout.js";
import type { SupervisedJob } from "./fixtures/supervised-manager.js";

export const PATH = "/usr/local/bin:/usr/bin:/bin";
export const IS_ROOT: boolean = process.getuid?.() === 0;
export const PLAIN_UID = 61_041;

const helper = await nativeHelper();

export const NEEDS: Readonly<Record<"landlock" | "preload" | "env" | "root", HostNeed>> = {
  landlock: hostNeed("cc and Landlock with rules for TCP", () => {
    if (!helper.isAvailable) return helper.reason;
    return helper.landlockAbi < 4 ? `Landlock is of version ${helper.landlockAbi}` : whyClosed();
  }),
  preload: hostNeed("proxychains4", () =>
    statSync("/usr/bin/proxychains4", { throwIfNoEntry: false }) === undefined
      ? "not installed"
      : whyClosed(),
  ),
  env: hostNeed("a checkout that others can read", whyClosed),
  root: hostNeed("root", () => (IS_ROOT ? undefined : "not root")),
};

/** What an agent left behind. */
export interface Ran {
  readonly exit: SandboxExit;
  readonly output: string;
  readonly report: SandboxReport;
}

/** Starts an agent with its standard streams here. */
export function startAgent(
  sandbox: LinuxSandbox,
  argv: readonly string[],
  options: Partial<SandboxSpawnOptions<Socket>> = {},
): Promise<LinuxSandboxedProcess> {
  return sandbox.spawn(argv, {
    onConnection: (socket) => void socket.on("error", () => undefined).end("hello"),
    env: ({ home, port }) => ({ PATH, HOME: home, PORT: String(port) }),
    stdio: "pipe",
    ...options,
  });
}

export async function textOf(agent: LinuxSandboxedProcess): Promise<string> {
  let text = "";
  for await (const chunk of agent.stdout ?? []) text += String(chunk);
  return text;
}

/** Runs a shell script as an agent to its end. */
export async function runShell(
  sandbox: LinuxSandbox,
  script: string,
  options: Partial<SandboxSpawnOptions<Socket>> = {},
): Promise<Ran> {
  const agent = await startAgent(sandbox, ["/bin/sh", "-c", `exec 2>&1; ${script}`], options);
  agent.stdin?.end();
  const [output, exit] = await Promise.all([textOf(agent), agent.exited]);
  return { exit, output, report: agent.report };
}

/** A Node program as one argument of a shell's command line. */
export function nodeScript(program: string): string {
  return `${process.execPath} -e '${program.replaceAll("'", `'"'"'`)}'`;
}

const MANAGER = await bundled(new URL("fixtures/supervised-manager.ts", import.meta.url));

/** A manager in a process of its own. */
export interface Manager {
  readonly child: ChildProcess;
  output(): string;
  /** What it said, with this key. */
  said(key: string): Promise<Readonly<Record<string, unknown>>>;
}

/**
 * Starts one, as a uid without rights where these tests are root, with its own places below
 * `scratch`.
 */
export function startManager(job: SupervisedJob, scratch: string): Manager {
  const prefix = IS_ROOT
    ? [
        "setpriv",
        `--reuid=${PLAIN_UID}`,
        `--regid=${PLAIN_UID}`,
        "--clear-groups",
        "--inh-caps=-all",
        "--",
      ]
    : [];
  const [program = "", ...args] = [...prefix, process.execPath, MANAGER, JSON.stringify(job)];
  const env = {
    PATH: process.env["PATH"],
    TMPDIR: scratch,
    XDG_RUNTIME_DIR: scratch,
    XDG_CACHE_HOME: `${scratch}/cache`,
    HOME: scratch,
  };
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const text = { output: "", said: "" };
  child.stdout.on("data", (chunk) => (text.output += String(chunk)));
  const wake = new Set<() => void>();
  child.stderr.on("data", (chunk) => {
    text.said += String(chunk);
    for (const each of wake) each();
  });
  const ended = once(child, "close").then(() => {
    for (const each of wake) each();
    return true;
  });
  const lines = (): readonly Record<string, unknown>[] =>
    text.said
      .split("\n")
      .filter((line) => line.startsWith("{") && line.endsWith("}"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return {
    child,
    output: () => text.output,
    said: async (key) => {
      for (;;) {
        const found = lines().find((line) => key in line);
        if (found !== undefined) return found;
        const more = new Promise<boolean>((resolve) => wake.add(() => resolve(false)));
        if (await Promise.race([ended, more])) {
          const last = lines().find((line) => key in line);
          if (last !== undefined) return last;
          throw new Error(`The manager ended without "${key}": ${text.said}`);
        }
      }
    },
  };
}

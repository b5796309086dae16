/**
 * Held names kit: a repository with files that are held, agents in it, and a person outside who
 * replaces them.
 */
import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect } from "vitest";
import { hostNeed } from "@acp/testing";
import { createNamespaceSandbox } from "../src/namespace.js";
import { holdHelper, initHelper } from "../src/native-helper.js";
import type { HeldNameChange, LinuxSandboxedProcess } from "../src/parts.js";
import { PATH } from "./namespace-kit.js";

const AGENT_UID = 61_015;
const isRoot = process.getuid?.() === 0;
const helpers = [await initHelper(), await holdHelper()];
/** Whether the helpers can be made here. */
export const compiled = hostNeed("cc", () =>
  helpers.find((each) => !each.isAvailable)?.isAvailable === undefined ? undefined : "no compiler",
);

let work: string;

/** A path in the repository of this test. */
export const pathOf = (name: string): string => join(work, name);

/** Makes a repository for each test of the file. */
export function useRepository(): void {
  beforeEach(setUp);
  afterEach(() => rmSync(work, { recursive: true }));
}

function setUp(): void {
  work = realpathSync(mkdtempSync(join(tmpdir(), "acp-names-")));
  chmodSync(work, 0o755);
  git("init", "-q");
  for (const name of [".envrc", ".npmrc", ".vscode/tasks.json", "a.txt"]) write(name, "before\n");
  own();
}

/** What it prints. */
export function git(...args: readonly string[]): string {
  return execFileSync("git", ["-c", "safe.directory=*", "-C", work, ...args], {
    encoding: "utf8",
    stdio: "pipe",
  });
}

/** As a person does whose files these are. */
export async function outside(script: string): Promise<void> {
  const who = isRoot
    ? ["setpriv", `--reuid=${AGENT_UID}`, `--regid=${AGENT_UID}`, "--clear-groups"]
    : [];
  const [program = "", ...args] = [...who, "sh", "-ec", script];
  await promisify(execFile)(program, args, {
    cwd: work,
    env: { PATH, HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" },
  });
}

function write(name: string, text: string): void {
  mkdirSync(dirname(join(work, name)), { recursive: true });
  writeFileSync(join(work, name), text);
}

/** Gives it to whom the agent runs as. */
export function own(path: string = work): void {
  if (!isRoot) return;
  chownSync(path, AGENT_UID, AGENT_UID);
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) own(join(path, name));
}

/** A file of the repository. */
export const read = (name: string): string => readFileSync(join(work, name), "utf8");

/** An agent, and what is seen of it. */
export interface Watched {
  readonly agent: LinuxSandboxedProcess;
  readonly changes: readonly HeldNameChange[];
  /** Whether it has ended. */
  readonly isOver: () => boolean;
  readonly output: () => string;
  /** Resolves when what it printed has the text. */
  readonly printed: (text: string) => Promise<void>;
  /** Resolves when so many changes are told; false where the agent ended before. */
  readonly changed: (count: number) => Promise<boolean>;
}

const run = async (argv: readonly string[], whileHeld?: () => Promise<void>): Promise<Watched> => {
  const sandbox = createNamespaceSandbox({
    workspace: { path: work, access: "read-write" },
    ...(isRoot && { user: AGENT_UID }),
  });
  const held = await sandbox.hold(argv, {
    env: ({ home }) => ({ PATH, HOME: home }),
    stdio: "pipe",
    stderr: "pipe",
    cwd: work,
  });
  const changes: HeldNameChange[] = [];
  held.onHeldName?.((change) => changes.push(change));
  await whileHeld?.();
  const agent = await held.go({ onConnection: (socket) => socket.destroy() });
  agent.stdin?.end();
  let [output, isOver] = ["", false];
  for (const stream of [agent.stdout, agent.stderr])
    stream?.on("data", (chunk: unknown) => void (output += String(chunk)));
  void agent.exited.then(() => {
    isOver = true;
  });
  const until = async (test: () => boolean): Promise<boolean> => {
    for (let looks = 0; looks < 2000 && !test() && !isOver; looks++) await sleep(10);
    return test();
  };
  return {
    agent,
    changes,
    isOver: () => isOver,
    output: () => output,
    printed: async (text) =>
      expect((await until(() => output.includes(text))) || output).toBe(true),
    changed: (count) => until(() => changes.length >= count),
  };
};

/** Starts an agent that runs this script. */
export const python = (script: string, whileHeld?: () => Promise<void>): Promise<Watched> =>
  run(["python3", "-c", script], whileHeld);

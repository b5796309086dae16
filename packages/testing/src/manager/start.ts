/**
 * Start: a manager as a person starts it, in a folder, at a terminal or not, until it ends or its
 * time is over; and what its agent left running.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { access, open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { KIT } from "./ground.js";

/** How a manager is started. */
export interface ManagerSession {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Where the person is; whoever may not enter it is in `/`. */
  readonly cwd: string;
  /** Takes what it says. */
  readonly output: string;
  /** After this many milliseconds it is ended, and stuck. */
  readonly limitMs: number;
  /**
   * At a terminal, in a pipeline of a shell: the mark that is left where that shell is stopped or
   * killed.
   */
  readonly mark?: string;
}

/** How it went. */
export interface ManagerEnd {
  readonly isOver: boolean;
  readonly code: number | null;
  /** What it said. */
  readonly said: string;
}

/** Starts it, and waits for its end: for that of its own process, whoever holds its output. */
export async function startManager({
  command,
  env,
  cwd,
  output,
  limitMs,
  mark,
}: ManagerSession): Promise<ManagerEnd> {
  const atTerminal =
    mark === undefined
      ? []
      : [
          "/usr/bin/python3",
          join(KIT, "terminal.py"),
          mark,
          output,
          "/usr/bin/bash",
          join(KIT, "person.sh"),
        ];
  const [program = "", ...args] = [...atTerminal, ...command];
  const canEnter = await access(cwd, constants.X_OK).then(
    () => true,
    () => false,
  );
  await using file = await open(output, "a", 0o600);
  const child = spawn(program, args, {
    cwd: canEnter ? cwd : "/",
    env,
    stdio: ["ignore", file.fd, file.fd],
  });
  const ended = once(child, "exit");
  const over = new AbortController();
  const isOver = await Promise.race([
    ended.then(() => true),
    sleep(limitMs, false, { signal: over.signal }).catch(() => true),
  ]);
  over.abort();
  if (!isOver && child.pid !== undefined) await endTree(child.pid);
  await ended;
  return { isOver, code: child.exitCode, said: await readFile(output, "utf8") };
}

/** Processes that a text names, but for this one; each pid once. */
export async function processesNaming(text: string): Promise<readonly number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/u.test(name)).map(Number);
  const named = await Promise.all(
    pids.map(async (pid) =>
      (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).includes(text) ? [pid] : [],
    ),
  );
  return named.flat().filter((pid) => pid !== process.pid);
}

/** Ends processes that may be gone already. */
export function endAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Gone by itself.
    }
  }
}

/** A process and what descends from it: a manager that is stuck, with whatever waits for it. */
async function endTree(pid: number): Promise<void> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  endAll([pid]);
  for (const child of children
    .trim()
    .split(" ")
    .filter((each) => each !== ""))
    await endTree(Number(child));
}

/**
 * Drive: starts an installed agent once, in a home and a folder that are thrown away, and says what
 * it did with the one command that its model wanted.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { Distrust, TrustedProgram } from "@acp/host";
import { hasOutput, startProgram, trustedProgram } from "@acp/host";
import type { Io } from "../command.js";
import { filesOf } from "./agents.js";
import type { CheckedAgent } from "./agents.js";
import { startModel } from "./model.js";

/** What one run of an agent showed. */
export interface Run {
  /** Whether the agent was handed the command. */
  readonly isHandedOut: boolean;
  /** Whether the command ran. */
  readonly hasRun: boolean;
  /** Whether the hook wrote its decision into the log. */
  readonly isHookCalled: boolean;
  /** What the agent told the model. */
  readonly result: string | undefined;
  /** How the agent's process ended. */
  readonly end: string;
}

/**
 * What the agent's process gets of our environment: everything else could be the person's own
 * settings.
 */
const KEPT_VARIABLES = ["PATH", "LANG", "LC_ALL", "TMPDIR", "TERM"] as const;
/** What the model has run. It leaves a file behind, and nothing in it is safe. */
const MARK = "acp-check-ran";
const COMMAND = `touch ${MARK}`;
/** The end of what the agent printed that is shown. */
const TAIL_CHARS = 400;

/** The program of that name on the PATH, or why there is none that could be started. */
export function findProgram(name: string, { env }: Pick<Io, "env">): TrustedProgram | Distrust {
  return trustedProgram(name, { directories: (env["PATH"] ?? "").split(delimiter) });
}

/** What a run needs. */
export interface RunParts {
  readonly agent: CheckedAgent;
  readonly program: TrustedProgram;
  readonly io: Pick<Io, "env">;
  /**
   * The hook's command line with the home that it is to use; none for a run that shows that the
   * command would run.
   */
  readonly hook?: (acpHome: string) => string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Runs the agent once. */
export async function runOnce({
  agent,
  program,
  io,
  hook,
  timeoutMs,
  signal,
}: RunParts): Promise<Run> {
  const scratch = await mkdtemp(join(tmpdir(), "acp-check-"));
  const [home, work, acpHome] = [
    join(scratch, "home"),
    join(scratch, "work"),
    join(scratch, "acp"),
  ];
  try {
    for (const folder of [home, work, acpHome]) await mkdir(folder, { mode: 0o700 });
    await using model = await startModel(COMMAND);
    for (const { path, text } of filesOf(agent, model.url, hook?.(acpHome))) {
      await mkdir(dirname(join(home, path)), { recursive: true });
      await writeFile(join(home, path), text, { mode: 0o600 });
    }
    const kept = Object.fromEntries(
      KEPT_VARIABLES.flatMap((name) =>
        io.env[name] === undefined ? [] : [[name, io.env[name]] as const],
      ),
    );
    const env = { ...kept, HOME: home, SHELL: "/bin/bash", ...agent.drive?.env(model.url, home) };
    const end = await runProgram({
      program,
      args: agent.drive?.args ?? [],
      cwd: work,
      env,
      timeoutMs,
      signal,
    });
    const log = await readFile(join(acpHome, "audit.jsonl"), "utf8").catch(() => "");
    return {
      isHandedOut: model.isHandedOut(),
      hasRun: existsSync(join(work, MARK)),
      isHookCalled: log.includes(JSON.stringify(COMMAND)),
      result: model.result(),
      end,
    };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

interface Program {
  readonly program: TrustedProgram;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Runs a program to its end, in a group of its own that ends with it; says how that was. */
function runProgram({ program, args, cwd, env, timeoutMs, signal }: Program): Promise<string> {
  return new Promise((resolve) => {
    let tail = "";
    const child = startProgram(program, args, {
      cwd,
      env,
      isDetached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (!hasOutput(child)) return resolve("the system has no free descriptors");
    const note = (chunk: Buffer): void =>
      void (tail = `${tail}${chunk.toString("utf8")}`.slice(-TAIL_CHARS));
    child.stdout.on("data", note);
    child.stderr.on("data", note);
    const endGroup = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It is gone.
      }
    };
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      endGroup();
    }, timeoutMs);
    signal.addEventListener("abort", endGroup, { once: true });
    const settle = (how: string): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", endGroup);
      endGroup();
      resolve(tail.trim() === "" ? how : `${how}; it said: ${tail.trim()}`);
    };
    child.on("error", (error) => settle(error.message));
    child.on("close", (code) =>
      settle(
        isLate
          ? `it did not end within ${timeoutMs / 1_000} s`
          : `it ended with exit ${code ?? "by a signal"}`,
      ),
    );
  });
}

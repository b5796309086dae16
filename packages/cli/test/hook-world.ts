/**
 * Hooks as agents call them: the built `acp`, an event on standard input, and a home; alone, or
 * with the resident of that home.
 */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { acp, scratch, startAcp } from "./harness.js";
import type { Ended, Running, Scratch } from "./harness.js";

/** The events in which agents hand a command over. */
export const EVENTS = {
  "claude-code": (command: string): object => ({
    session_id: "s1",
    cwd: "/work/project",
    hook_event_name: "PreToolUse",
    tool_name: "Bash",
    tool_input: { command, description: "why" },
    tool_use_id: "toolu_1",
  }),
  codex: (command: string): object => ({
    ...EVENTS["claude-code"](command),
    turn_id: "t1",
    model: "m",
  }),
  "gemini-cli": (command: string): object => ({
    session_id: "s1",
    cwd: "/work/project",
    hook_event_name: "BeforeTool",
    tool_name: "run_shell_command",
    tool_input: { command },
  }),
  cursor: (command: string): object => ({
    conversation_id: "s1",
    cwd: "/work/project",
    workspace_roots: ["/work/project"],
    hook_event_name: "beforeShellExecution",
    command,
  }),
} as const;

/** An agent with a hook. */
export type Agent = keyof typeof EVENTS;

/** One line of the log. */
export interface LogLine {
  readonly event_type: string;
  readonly decision: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A home that agents' hooks use. */
export interface HookWorld extends Scratch {
  readonly home: string;
  /** Runs the hook; without `alone` a resident may answer. */
  hook(
    agent: Agent,
    event: object,
    args?: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<Ended>;
  startHook(agent: Agent, event: object, args?: readonly string[]): Running;
  resident(): Promise<Running>;
  /** Every event of every log of the home. */
  log(): Promise<readonly LogLine[]>;
}

const NO_HOME_ENV = { ACP_ALONE: "0", SHELL: "/bin/bash" } as const;

/** A hook that had to answer alone may have started a resident, which may be about to begin. */
async function endStarted(home: string): Promise<void> {
  const log = join(home, "run", "resident.log");
  const text = (): Promise<string | undefined> => readFile(log, "utf8").catch(() => undefined);
  if ((await text()) === undefined) return;
  await vi.waitFor(async () => expect(await text()).toMatch(/Serving|\[\w+\]$/mu), {
    timeout: 120_000,
    interval: 50,
  });
  await acp(["resident", "stop", "--home", home]);
}

/** Makes a home without keys. */
export async function hookWorld(): Promise<HookWorld> {
  const at = await scratch();
  const home = join(at.path, "h");
  // Of its own: a hook starts no resident where the program lies below its directory, and a
  // checkout may lie in the temporary one.
  const cwd = at.path;
  await mkdir(home, { mode: 0o700 });
  const words = (agent: Agent, args: readonly string[]): readonly string[] => [
    "exec",
    "hook",
    agent,
    "--home",
    home,
    ...args,
  ];
  return {
    path: at.path,
    async [Symbol.asyncDispose]() {
      await endStarted(home);
      await at[Symbol.asyncDispose]();
    },
    home,
    hook: (agent, event, args = [], env = {}) =>
      acp(words(agent, args), {
        cwd,
        input: JSON.stringify(event),
        env: { ...NO_HOME_ENV, ...env },
      }),
    startHook: (agent, event, args = []) =>
      startAcp(words(agent, args), { cwd, input: JSON.stringify(event), env: NO_HOME_ENV }),
    async resident() {
      const running = startAcp(["resident", "serve", "--home", home], { input: "" });
      await running.seen("stderr", "Serving");
      return running;
    },
    async log() {
      const names = ["audit.jsonl", "audit.2.jsonl", "audit.3.jsonl"];
      const texts = await Promise.all(
        names.map((name) => readFile(join(home, name), "utf8").catch(() => "")),
      );
      return texts.flatMap((text) =>
        text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)])),
      );
    },
  };
}

/**
 * What an agent was told, in one word: `allow`, `ask`, `deny`, or `none` where it decides by
 * itself.
 */
export function decisionOf({ stdout }: Ended): string {
  const said = JSON.parse(stdout);
  return (
    said.hookSpecificOutput?.permissionDecision ??
    said.hookSpecificOutput?.decision?.behavior ??
    said.decision ??
    said.permission ??
    "none"
  );
}

/**
 * Hook protocols: how coding agents ask a program before they run a command, and how they read its answer. One row an agent.
 * What each of them does with an answer, and where the facts are from, is in docs/exec-hooks.md.
 */
import { isAbsolute, join } from "node:path";
import { ConsentError, isJsonObject, quoteText } from "@acp/core";
import type { Effect, JsonObject, JsonValue } from "@acp/core";

/** Agents whose protocol is known. */
export type HookAgent = "claude-code" | "codex" | "gemini-cli" | "cursor";

/** A command that an agent is about to run. */
export interface HookCall {
  readonly command: string;
  /** Absent where the agent does not say. */
  readonly cwd?: string;
  /** Folders that the agent was opened on, as far as it says. */
  readonly roots: readonly string[];
  /** The shell that reads it; absent where it is bash. */
  readonly shell?: string;
}

/** What an agent is told. */
export type HookAnswer = (effect: Effect, reason: string) => JsonObject;

/** What of the environment says where and how an agent runs commands. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One agent's protocol. */
export interface HookProtocol {
  readonly agent: HookAgent;
  /** The events that ask before a command runs, and how each is answered. */
  readonly answers: Readonly<Record<string, HookAnswer>>;
  /** The command of an event; `undefined` where the event is about something else than a command. */
  readonly read: (event: JsonObject, env: Environment) => HookCall | undefined;
}

/** The agent has nothing to do but what it would do without a hook. */
export const NO_DECISION: JsonObject = {};

const preToolUse: HookAnswer = (effect, reason) => ({
  hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: effect, permissionDecisionReason: reason },
});

/** The agent is about to ask a person: left undecided, it does. */
const permissionRequest: HookAnswer = (effect, reason) => {
  if (effect === "ask") return NO_DECISION;
  const decision = effect === "allow" ? { behavior: effect } : { behavior: effect, message: reason };
  return { hookSpecificOutput: { hookEventName: "PermissionRequest", decision } };
};

// Codex reads "ask" and a bare "allow" from this event as a broken hook, and goes on as if there were none: only silence and "deny" are safe.
const codexPreToolUse: HookAnswer = (effect, reason) => {
  if (effect === "allow") return NO_DECISION;
  const hint = effect === "ask" ? " (Codex cannot ask a person from PreToolUse; wire PermissionRequest instead)" : "";
  return preToolUse("deny", `${reason}${hint}`);
};

const geminiBeforeTool: HookAnswer = (effect, reason) =>
  effect === "allow" ? { decision: effect } : { decision: effect, reason, systemMessage: reason };

const cursorShell: HookAnswer = (effect, reason) =>
  effect === "allow" ? { permission: effect } : { permission: effect, user_message: reason, agent_message: reason };

/** Every protocol. */
export const HOOK_PROTOCOLS: readonly HookProtocol[] = [
  {
    agent: "claude-code",
    answers: { PreToolUse: preToolUse, PermissionRequest: permissionRequest },
    read: (event, env) => {
      const tool = readTool(event, { Bash: env["CLAUDE_CODE_SHELL"] ?? env["SHELL"], PowerShell: "powershell" });
      return tool === undefined ? undefined : { ...tool.call, roots: rootsOf(env["CLAUDE_PROJECT_DIR"]) };
    },
  },
  {
    agent: "codex",
    answers: { PreToolUse: codexPreToolUse, PermissionRequest: permissionRequest },
    read: (event, env) => {
      const tool = readTool(event, { Bash: env["SHELL"] });
      return tool === undefined ? undefined : { ...tool.call, roots: [] };
    },
  },
  {
    agent: "gemini-cli",
    answers: { BeforeTool: geminiBeforeTool },
    read: (event, env) => {
      const tool = readTool(event, { run_shell_command: undefined });
      if (tool === undefined) return undefined;
      const roots = rootsOf(env["GEMINI_PROJECT_DIR"]);
      return { ...tool.call, ...cwdIn(roots[0] ?? tool.call.cwd, tool.input["dir_path"] ?? tool.input["directory"]), roots };
    },
  },
  {
    agent: "cursor",
    answers: { beforeShellExecution: cursorShell },
    read: (event, env) => ({
      command: textOf(event, "command"),
      ...cwdOf(event["cwd"]),
      ...shellOf(env["SHELL"]),
      roots: textsOf(event["workspace_roots"]),
    }),
  },
];

/**
 * The protocol of an event.
 *
 * @param agent - Who asks; left out, it is told from the event, which Codex's can be only while it sends `turn_id` or `model`.
 * @throws ConsentError `options_invalid` for an event that nobody sends before a command, or that this agent does not send.
 */
export function protocolOf(event: JsonObject, agent: string | undefined): { readonly protocol: HookProtocol; readonly answer: HookAnswer } {
  const name = textOf(event, "hook_event_name");
  const isCodex = typeof event["turn_id"] === "string" || typeof event["model"] === "string";
  const candidates = HOOK_PROTOCOLS.filter((each) => (agent === undefined ? Object.hasOwn(each.answers, name) : each.agent === agent));
  const protocol = agent === undefined && isCodex ? (candidates.find((each) => each.agent === "codex") ?? candidates[0]) : candidates[0];
  const answer = protocol?.answers[name];
  if (protocol === undefined || answer === undefined) {
    const events = (protocol === undefined ? HOOK_PROTOCOLS : [protocol]).flatMap(({ answers }) => Object.keys(answers));
    throw broken(`the event ${quoteText(name)} asks for no decision about a command; wire ${[...new Set(events)].join(" or ")}`);
  }
  return { protocol, answer };
}

/** The call of a tool that runs commands, and everything that the agent's model wrote into it. */
interface ToolCall {
  readonly call: Omit<HookCall, "roots">;
  readonly input: JsonObject;
}

/** Reads the call; `shells` names the tools that run commands, each with the shell that it runs them in. */
function readTool(event: JsonObject, shells: Readonly<Record<string, string | undefined>>): ToolCall | undefined {
  const name = textOf(event, "tool_name");
  if (!Object.hasOwn(shells, name)) return undefined;
  const input = event["tool_input"];
  if (!isJsonObject(input)) throw broken('its "tool_input" is not an object');
  return { call: { command: textOf(input, "command"), ...cwdOf(event["cwd"]), ...shellOf(shells[name]) }, input };
}

/** A folder of the tool's own, relative to where the agent works; nothing where it names none. */
function cwdIn(base: string | undefined, folder: JsonValue | undefined): { readonly cwd?: string } {
  if (folder === undefined || folder === null || folder === "") return {};
  if (typeof folder !== "string") throw broken("its folder is not a text");
  if (isAbsolute(folder)) return { cwd: folder };
  if (base === undefined) throw broken("its folder is relative, and nothing says to what");
  return { cwd: join(base, folder) };
}

function shellOf(shell: string | undefined): Pick<HookCall, "shell"> {
  return shell === undefined || shell === "" ? {} : { shell };
}

function cwdOf(value: JsonValue | undefined): { readonly cwd?: string } {
  if (value === undefined || value === null || value === "") return {};
  if (typeof value !== "string") throw broken('its "cwd" is not a text');
  return { cwd: value };
}

function rootsOf(root: string | undefined): readonly string[] {
  return root === undefined || root === "" ? [] : [root];
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function textOf(object: JsonObject, key: string): string {
  const value = object[key];
  if (typeof value !== "string" || value === "") throw broken(`its "${key}" is not a text`);
  return value;
}

/** What an event that cannot be judged is answered with. */
export function broken(why: string): ConsentError {
  return new ConsentError("options_invalid", `Cannot judge the hook's event: ${why}`);
}

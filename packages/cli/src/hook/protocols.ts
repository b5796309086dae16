/**
 * Hook protocols: how coding agents ask a program before they run a command, and how they read its
 * answer. One row an agent. What each of them does with an answer, and where the facts are from, is
 * in docs/how-to/exec-hooks.md.
 */
import { isAbsolute, join } from "node:path";
import { ConsentError, isJsonObject, quoteText } from "@acp/core";
import type { Effect, JsonObject, JsonValue, Outcome } from "@acp/core";

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
  /**
   * All that the agent's model wrote into the call; absent where the agent tells the command alone.
   */
  readonly input?: JsonObject;
}

/** What is said to an agent. */
export interface HookWord {
  readonly effect: Effect;
  readonly reason: string;
  /**
   * What the tool gets instead of what the model wrote: only with "allow", and only where the
   * protocol says that the agent takes it.
   */
  readonly input?: JsonObject;
}

/** The word in an agent's own terms. */
export type HookAnswer = (word: HookWord) => JsonObject;

/** What of the environment says where and how an agent runs commands. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One agent's protocol. */
export interface HookProtocol {
  readonly agent: HookAgent;
  /** The events that ask before a command runs, and how each is answered. */
  readonly answers: Readonly<Record<string, HookAnswer>>;
  /** The events that come after a command, and what each says that became of it. */
  readonly outcomes: Readonly<Record<string, (event: JsonObject) => Outcome>>;
  /** The events whose answer may give the tool another command. */
  readonly rewrites: readonly string[];
  /**
   * The command of an event; `undefined` where the event is about something else than a command.
   */
  readonly read: (event: JsonObject, env: Environment) => HookCall | undefined;
}

/** A protocol and what its event wants: an answer, or to have an outcome noted. */
export interface FoundProtocol {
  readonly protocol: HookProtocol;
  readonly answer: HookAnswer;
  /** Whether the answer may give the tool another command. */
  readonly canRewrite: boolean;
  /** Present where the command ran already. */
  readonly outcome?: Outcome;
}

/** Characters of a name that is kept. */
const NAME_CHARS_MAX = 256;

/** The agent has nothing to do but what it would do without a hook. */
export const NO_DECISION: JsonObject = {};

const preToolUse: HookAnswer = ({ effect, reason, input }) => ({
  hookSpecificOutput: {
    hookEventName: "PreToolUse",
    permissionDecision: effect,
    permissionDecisionReason: reason,
    ...(input === undefined ? {} : { updatedInput: input }),
  },
  // The reason of an "allow" is shown to nobody; what runs instead of what was asked for has to be
  // seen.
  ...(input === undefined ? {} : { systemMessage: reason }),
});

/** The agent is about to ask a person: left undecided, it does. */
const permissionRequest: HookAnswer = ({ effect, reason, input }) => {
  if (effect === "ask") return NO_DECISION;
  const decision =
    effect === "allow"
      ? { behavior: effect, ...(input === undefined ? {} : { updatedInput: input }) }
      : { behavior: effect, message: reason };
  return {
    hookSpecificOutput: { hookEventName: "PermissionRequest", decision },
    ...(input === undefined ? {} : { systemMessage: reason }),
  };
};

// Codex reads "ask" and a bare "allow" from this event as a broken hook, and goes on as if there
// were none: only silence, "deny" and an "allow" with another command are safe.
const codexPreToolUse: HookAnswer = (word) => {
  if (word.effect === "allow") return word.input === undefined ? NO_DECISION : preToolUse(word);
  const hint =
    word.effect === "ask"
      ? " (Codex cannot ask from PreToolUse: pass --wait to the hook, and ACP asks)"
      : "";
  return preToolUse({ effect: "deny", reason: `${word.reason}${hint}` });
};

const geminiBeforeTool: HookAnswer = ({ effect, reason, input }) => {
  if (effect !== "allow") return { decision: effect, reason, systemMessage: reason };
  if (input === undefined) return { decision: effect };
  return {
    decision: effect,
    systemMessage: reason,
    hookSpecificOutput: { hookEventName: "BeforeTool", tool_input: input },
  };
};

const cursorShell: HookAnswer = ({ effect, reason }) =>
  effect === "allow"
    ? { permission: effect }
    : { permission: effect, user_message: reason, agent_message: reason };

/** The tool ran; what its program said by its exit code is in an answer that is not kept. */
const ran = (): Outcome => ({ status: "performed" });
const toolFailed = (): Outcome => ({ status: "failed", error: "tool_failed" });
const geminiAfterTool = ({ tool_response: response }: JsonObject): Outcome =>
  isJsonObject(response) && response["error"] !== undefined && response["error"] !== null
    ? toolFailed()
    : ran();

/** Every protocol. */
export const HOOK_PROTOCOLS: readonly HookProtocol[] = [
  {
    agent: "claude-code",
    answers: { PreToolUse: preToolUse, PermissionRequest: permissionRequest },
    outcomes: { PostToolUse: ran, PostToolUseFailure: toolFailed },
    rewrites: ["PreToolUse", "PermissionRequest"],
    read: (event, env) => {
      const tool = readTool(event, {
        Bash: env["CLAUDE_CODE_SHELL"] ?? env["SHELL"],
        PowerShell: "powershell",
      });
      return tool === undefined
        ? undefined
        : { ...tool, roots: rootsOf(env["CLAUDE_PROJECT_DIR"]) };
    },
  },
  {
    agent: "codex",
    answers: { PreToolUse: codexPreToolUse, PermissionRequest: permissionRequest },
    outcomes: { PostToolUse: ran },
    rewrites: ["PreToolUse"],
    read: (event, env) => {
      const tool = readTool(event, { Bash: env["SHELL"] });
      return tool === undefined ? undefined : { ...tool, roots: [] };
    },
  },
  {
    agent: "gemini-cli",
    answers: { BeforeTool: geminiBeforeTool },
    outcomes: { AfterTool: geminiAfterTool },
    rewrites: ["BeforeTool"],
    read: (event, env) => {
      const tool = readTool(event, { run_shell_command: undefined });
      if (tool === undefined) return undefined;
      const roots = rootsOf(env["GEMINI_PROJECT_DIR"]);
      const folder = tool.input["dir_path"] ?? tool.input["directory"];
      return { ...tool, ...cwdIn(roots[0] ?? tool.cwd, folder), roots };
    },
  },
  {
    agent: "cursor",
    answers: { beforeShellExecution: cursorShell },
    outcomes: { afterShellExecution: ran },
    rewrites: [],
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
 * @param agent - Who asks; left out, it is told from the event, which Codex's can be only while it
 *   sends `turn_id` or `model`.
 * @throws ConsentError `options_invalid` for an event that nobody sends about a command, or that
 *   this agent does not send.
 */
export function protocolOf(event: JsonObject, agent: string | undefined): FoundProtocol {
  const name = textOf(event, "hook_event_name");
  const isCodex = typeof event["turn_id"] === "string" || typeof event["model"] === "string";
  const knows = ({ answers, outcomes }: HookProtocol): boolean =>
    Object.hasOwn(answers, name) || Object.hasOwn(outcomes, name);
  const candidates = HOOK_PROTOCOLS.filter((each) =>
    agent === undefined ? knows(each) : each.agent === agent,
  );
  const protocol =
    agent === undefined && isCodex
      ? (candidates.find((each) => each.agent === "codex") ?? candidates[0])
      : candidates[0];
  if (protocol !== undefined && Object.hasOwn(protocol.outcomes, name)) {
    const outcome = protocol.outcomes[name];
    if (outcome !== undefined)
      return { protocol, answer: () => NO_DECISION, canRewrite: false, outcome: outcome(event) };
  }
  const answer =
    protocol !== undefined && Object.hasOwn(protocol.answers, name)
      ? protocol.answers[name]
      : undefined;
  if (protocol === undefined || answer === undefined) {
    const events = (protocol === undefined ? HOOK_PROTOCOLS : [protocol]).flatMap(({ answers }) =>
      Object.keys(answers),
    );
    throw broken(
      `the event ${quoteText(name)} asks for no decision about a command; wire ${[...new Set(events)].join(" or ")}`,
    );
  }
  return { protocol, answer, canRewrite: protocol.rewrites.includes(name) };
}

/** What an event holds that names its session and its call, for the log. */
export function namesOf(event: JsonObject): JsonObject {
  const named = ["session_id", "conversation_id", "turn_id", "tool_use_id"].flatMap((key) => {
    const value = event[key];
    return typeof value === "string" && value !== "" && value.length <= NAME_CHARS_MAX
      ? [[key, value] as const]
      : [];
  });
  return Object.fromEntries(named);
}

/** The call of a tool that runs commands, and everything that the agent's model wrote into it. */
type ToolCall = Omit<HookCall, "roots"> & Required<Pick<HookCall, "input">>;

/**
 * Reads the call; `shells` names the tools that run commands, each with the shell that it runs them
 * in.
 */
function readTool(
  event: JsonObject,
  shells: Readonly<Record<string, string | undefined>>,
): ToolCall | undefined {
  const name = textOf(event, "tool_name");
  if (!Object.hasOwn(shells, name)) return undefined;
  const input = event["tool_input"];
  if (!isJsonObject(input)) throw broken('its "tool_input" is not an object');
  return {
    command: textOf(input, "command"),
    ...cwdOf(event["cwd"]),
    ...shellOf(shells[name]),
    input,
  };
}

/** A folder of the tool's own, relative to where the agent works; nothing where it names none. */
function cwdIn(base: string | undefined, folder: JsonValue | undefined): { readonly cwd?: string } {
  if (folder === undefined || folder === null || folder === "") return {};
  if (typeof folder !== "string") throw broken("its folder is not a string");
  if (isAbsolute(folder)) return { cwd: folder };
  if (base === undefined) throw broken("its folder is relative, and nothing says to what");
  return { cwd: join(base, folder) };
}

function shellOf(shell: string | undefined): Pick<HookCall, "shell"> {
  return shell === undefined || shell === "" ? {} : { shell };
}

function cwdOf(value: JsonValue | undefined): { readonly cwd?: string } {
  if (value === undefined || value === null || value === "") return {};
  if (typeof value !== "string") throw broken('its "cwd" is not a string');
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
  if (typeof value !== "string" || value === "") throw broken(`its "${key}" is not a string`);
  return value;
}

/** What an event that cannot be judged is answered with. */
export function broken(why: string): ConsentError {
  return new ConsentError("options_invalid", `Cannot judge the hook's event: ${why}`);
}

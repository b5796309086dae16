/**
 * Agents: how each installed coding agent is started once, without a person, in a home of its own,
 * against a model of ours; and the settings that wire the hook, as docs/how-to/exec-hooks.md prints
 * them.
 */
import { join } from "node:path";
import type { JsonObject } from "@acp/core";
import type { HookAgent } from "../hook/protocols.js";

/** A file of an agent's home. */
export interface AgentFile {
  readonly path: string;
  readonly text: string;
}

/** One agent. */
export interface CheckedAgent {
  readonly agent: HookAgent;
  /** What it is called on the PATH. */
  readonly program: string;
  /** Where its hooks are, relative to its user's home, and what is written there. */
  readonly hooks: { readonly path: string; readonly settings: (command: string) => JsonObject };
  /** What the command on the wire is. */
  readonly command: string;
  /** Why it cannot be driven; where it can, `drive` is there. */
  readonly undrivable?: string;
  readonly drive?: {
    /**
     * Settings without which it does not start, by their paths in its home; those of the hook's
     * file are merged with it.
     */
    readonly files: (modelUrl: string) => readonly AgentFile[];
    readonly env: (modelUrl: string, home: string) => Readonly<Record<string, string>>;
    readonly args: readonly string[];
  };
  /** What a person should know who reads the result. */
  readonly note?: string;
}

/** What the scripted model is asked; it does not matter. */
const PROMPT = "Run the check.";
const SECONDS = 120;

const WAITING = "--wait 110";

/** Settings with one hook. */
const hookList = (event: string, entry: JsonObject): JsonObject => ({
  hooks: { [event]: [entry] },
});

const codexToml = (url: string): string => `model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"
`;

const json = (value: JsonObject): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** Every agent whose hook is known. */
export const CHECKED_AGENTS: readonly CheckedAgent[] = [
  {
    agent: "claude-code",
    program: "claude",
    command: `acp exec hook claude-code ${WAITING}`,
    hooks: {
      path: ".claude/settings.json",
      settings: (command) =>
        hookList("PreToolUse", {
          matcher: "Bash|PowerShell",
          hooks: [{ type: "command", command, timeout: SECONDS, onFailure: "block" }],
        }),
    },
    drive: {
      files: () => [],
      env: (url) => ({
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: "none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
      }),
      args: ["-p", "--allowedTools", "Bash", "--", PROMPT],
    },
  },
  {
    agent: "codex",
    program: "codex",
    command: `acp exec hook codex ${WAITING}`,
    hooks: {
      path: ".codex/hooks.json",
      settings: (command) =>
        hookList("PreToolUse", {
          matcher: "^Bash$",
          hooks: [{ type: "command", command, timeout: SECONDS }],
        }),
    },
    drive: {
      files: (url) => [{ path: ".codex/config.toml", text: codexToml(url) }],
      env: (_url, home) => ({ CODEX_HOME: join(home, ".codex") }),
      args: [
        "exec",
        "--skip-git-repo-check",
        "--ephemeral",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        PROMPT,
      ],
    },
    note: "Codex runs a hook only after you trusted it: start codex, and look at /hooks",
  },
  {
    agent: "gemini-cli",
    program: "gemini",
    command: `acp exec hook gemini-cli ${WAITING}`,
    hooks: {
      path: ".gemini/settings.json",
      settings: (command) =>
        hookList("BeforeTool", {
          matcher: "run_shell_command",
          hooks: [{ type: "command", command, timeout: SECONDS * 1_000 }],
        }),
    },
    drive: {
      files: () => [
        {
          path: ".gemini/settings.json",
          text: json({
            security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
            privacy: { usageStatisticsEnabled: false },
            general: { enableAutoUpdate: false },
          }),
        },
      ],
      env: (url) => ({
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_API_KEY: "none",
        GEMINI_CLI_TRUST_WORKSPACE: "true",
      }),
      args: ["--yolo", "-p", PROMPT],
    },
  },
  {
    agent: "cursor",
    program: "cursor-agent",
    command: `acp exec hook cursor ${WAITING}`,
    hooks: {
      path: ".cursor/hooks.json",
      settings: (command) => ({
        version: 1,
        hooks: { beforeShellExecution: [{ command, timeout: SECONDS, failClosed: true }] },
      }),
    },
    undrivable: "it connects to its maker's servers only, so a scripted model cannot replace them",
  },
];

/** The files of an agent's home: what it needs to start, with its hook where there is one. */
export function filesOf(
  { hooks, drive }: CheckedAgent,
  modelUrl: string,
  hook: string | undefined,
): readonly AgentFile[] {
  const files = drive?.files(modelUrl) ?? [];
  if (hook === undefined) return files;
  const own = files.find(({ path }) => path === hooks.path);
  const before: unknown = own === undefined ? {} : JSON.parse(own.text);
  const settings = { ...(typeof before === "object" ? before : {}), ...hooks.settings(hook) };
  return [...files.filter((each) => each !== own), { path: hooks.path, text: json(settings) }];
}

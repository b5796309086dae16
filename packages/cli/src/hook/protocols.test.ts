import { describe, expect, it } from "vitest";
import type { Effect, JsonObject } from "@acp/core";
import { protocolOf } from "./protocols.js";
import type { Environment, HookCall } from "./protocols.js";

const CLAUDE: JsonObject = {
  session_id: "s",
  transcript_path: "/t.jsonl",
  cwd: "/work/project",
  permission_mode: "default",
  hook_event_name: "PreToolUse",
  tool_name: "Bash",
  tool_input: { command: "ls", description: "Lists files", timeout: 120_000 },
  tool_use_id: "toolu_1",
};
const CODEX: JsonObject = {
  ...CLAUDE,
  transcript_path: null,
  turn_id: "t1",
  model: "gpt",
  tool_input: { command: "ls" },
};
const GEMINI: JsonObject = {
  session_id: "s",
  transcript_path: "/t.json",
  cwd: "/work/project",
  hook_event_name: "BeforeTool",
  timestamp: "2026-11-01T00:00:00Z",
  tool_name: "run_shell_command",
  tool_input: { command: "ls", description: "Lists files" },
};
const CURSOR: JsonObject = {
  conversation_id: "c",
  generation_id: "g",
  hook_event_name: "beforeShellExecution",
  workspace_roots: ["/work/project", "/work/other"],
  command: "ls",
  cwd: "/work/project/src",
};

const read = (event: JsonObject, env: Environment = {}, agent?: string): HookCall | undefined =>
  protocolOf(event, agent).protocol.read(event, env);
const answer = (event: JsonObject, effect: Effect, agent?: string): JsonObject =>
  protocolOf(event, agent).answer({ effect, reason: "why" });

describe("protocolOf()", () => {
  it.each([
    ["claude-code", CLAUDE],
    ["codex", CODEX],
    ["gemini-cli", GEMINI],
    ["cursor", CURSOR],
    ["claude-code", { ...CLAUDE, hook_event_name: "PermissionRequest" }],
    ["codex", { ...CODEX, hook_event_name: "PermissionRequest" }],
    ["codex", { ...CLAUDE, turn_id: "t1" }],
    ["codex", { ...CLAUDE, model: "gpt" }],
  ])("knows %s by its event", (agent, event) => {
    expect(protocolOf(event, undefined).protocol.agent).toBe(agent);
    expect(protocolOf(event, agent).protocol.agent).toBe(agent);
  });

  it("believes the name on the command line, not the event", () => {
    expect(protocolOf(CLAUDE, "codex").protocol.agent).toBe("codex");
    expect(protocolOf(CODEX, "claude-code").protocol.agent).toBe("claude-code");
  });

  it.each([
    [{ ...CLAUDE, hook_event_name: "PostToolUse" }, "claude-code", { status: "performed" }],
    [
      { ...CLAUDE, hook_event_name: "PostToolUseFailure", error: "x" },
      "claude-code",
      { status: "failed", error: "tool_failed" },
    ],
    [{ ...CODEX, hook_event_name: "PostToolUse" }, "codex", { status: "performed" }],
    [
      { ...GEMINI, hook_event_name: "AfterTool", tool_response: { llmContent: "" } },
      "gemini-cli",
      { status: "performed" },
    ],
    [
      { ...GEMINI, hook_event_name: "AfterTool", tool_response: { error: "x" } },
      "gemini-cli",
      { status: "failed", error: "tool_failed" },
    ],
    [
      { ...CURSOR, hook_event_name: "afterShellExecution", output: "" },
      "cursor",
      { status: "performed" },
    ],
  ])(
    "reads what became of a command from %j, and answers nothing",
    (event: JsonObject, agent, outcome) => {
      for (const name of [undefined, agent]) {
        const found = protocolOf(event, name);
        expect([
          found.protocol.agent,
          found.outcome,
          found.answer({ effect: "deny", reason: "why" }),
        ]).toEqual([agent, outcome, {}]);
      }
      expect(read(event, {}, agent)?.command).toBe("ls");
    },
  );

  it.each([
    ["no event", {}, undefined],
    ["an event of another kind", { ...CLAUDE, hook_event_name: "SessionStart" }, "claude-code"],
    ["an event of Object.prototype", { ...CLAUDE, hook_event_name: "toString" }, "claude-code"],
    ["the outcome of another agent", { ...GEMINI, hook_event_name: "AfterTool" }, "cursor"],
    ["an event of nobody", { ...CLAUDE, hook_event_name: "constructor" }, undefined],
    ["an event that is no text", { ...CLAUDE, hook_event_name: ["PreToolUse"] }, undefined],
    ["another agent's event", GEMINI, "claude-code"],
    ["another agent's event", CLAUDE, "cursor"],
    ["a name of nobody", CLAUDE, "nobody"],
  ])("refuses %s", (_name, event, agent) => {
    expect(() => protocolOf(event, agent)).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});

describe("read()", () => {
  it("finds command, directory and folders", () => {
    expect(read(CLAUDE, { CLAUDE_PROJECT_DIR: "/work" })).toEqual({
      input: CLAUDE["tool_input"],
      command: "ls",
      cwd: "/work/project",
      roots: ["/work"],
    });
    expect(read(CODEX)).toEqual({
      input: CODEX["tool_input"],
      command: "ls",
      cwd: "/work/project",
      roots: [],
    });
    expect(read(GEMINI, { GEMINI_PROJECT_DIR: "/work" })).toEqual({
      input: GEMINI["tool_input"],
      command: "ls",
      cwd: "/work/project",
      roots: ["/work"],
    });
    expect(read(CURSOR)).toEqual({
      command: "ls",
      cwd: "/work/project/src",
      roots: ["/work/project", "/work/other"],
    });
    expect(read({ ...CURSOR, cwd: "" })).toEqual({
      command: "ls",
      roots: ["/work/project", "/work/other"],
    });
  });

  it("finds the shell that runs the command, where it may not be bash", () => {
    expect(read(CLAUDE, { SHELL: "/bin/zsh" })?.shell).toBe("/bin/zsh");
    expect(read(CLAUDE, { SHELL: "/bin/zsh", CLAUDE_CODE_SHELL: "/bin/bash" })?.shell).toBe(
      "/bin/bash",
    );
    expect(read({ ...CLAUDE, tool_name: "PowerShell" }, { SHELL: "/bin/bash" })?.shell).toBe(
      "powershell",
    );
    expect(read(CODEX, { SHELL: "/bin/zsh", CLAUDE_CODE_SHELL: "/bin/bash" })?.shell).toBe(
      "/bin/zsh",
    );
    expect(read(CURSOR, { SHELL: "/bin/fish" })?.shell).toBe("/bin/fish");
    expect(read(GEMINI, { SHELL: "/bin/zsh" })).not.toHaveProperty("shell");
    expect(read(CLAUDE, { SHELL: "" })).not.toHaveProperty("shell");
  });

  it("takes a folder of Gemini CLI's tool, and of no other", () => {
    const at = (folder: string, event: JsonObject = GEMINI) => ({
      ...event,
      tool_input: { command: "ls", dir_path: folder },
    });
    expect(read(at("src"))?.cwd).toBe("/work/project/src");
    expect(read(at("../.."))?.cwd).toBe("/");
    expect(read(at("/etc"))?.cwd).toBe("/etc");
    expect(read(at("src"), { GEMINI_PROJECT_DIR: "/work" })?.cwd).toBe("/work/src");
    expect(read({ ...GEMINI, tool_input: { command: "ls", directory: "src" } })?.cwd).toBe(
      "/work/project/src",
    );
    expect(read(at("/etc", CLAUDE))?.cwd).toBe("/work/project");
  });

  it.each([
    ["Read", CLAUDE],
    ["mcp__shell__Bash", CLAUDE],
    ["toString", CLAUDE],
    ["apply_patch", CODEX],
    ["read_file", GEMINI],
  ])("has nothing to say about the tool %s", (tool_name, event) => {
    expect(read({ ...event, tool_name, tool_input: { file_path: "/etc/passwd" } })).toBeUndefined();
  });

  it.each([
    ["no tool's name", { ...CLAUDE, tool_name: null }],
    ["no input", { ...CLAUDE, tool_input: null }],
    ["a text for the input", { ...CLAUDE, tool_input: "ls" }],
    ["no command", { ...CLAUDE, tool_input: {} }],
    ["an empty command", { ...CLAUDE, tool_input: { command: "" } }],
    ["a list of words", { ...CODEX, tool_input: { command: ["bash", "-lc", "ls"] } }],
    ["a number for the directory", { ...CLAUDE, cwd: 1 }],
    ["a folder that is no text", { ...GEMINI, tool_input: { command: "ls", dir_path: 1 } }],
    [
      "a folder relative to nothing",
      { ...GEMINI, cwd: "", tool_input: { command: "ls", dir_path: "src" } },
    ],
    ["a command that is no text", { ...CURSOR, command: { text: "ls" } }],
  ])("refuses %s", (_name, event) => {
    expect(() => read(event)).toThrow(expect.objectContaining({ code: "options_invalid" }));
  });
});

describe("answer()", () => {
  const preToolUse = (permissionDecision: string, permissionDecisionReason: unknown = "why") => ({
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision,
      permissionDecisionReason,
    },
  });
  const permission = (decision: object) => ({
    hookSpecificOutput: { hookEventName: "PermissionRequest", decision },
  });

  it("speaks to Claude Code", () => {
    expect(answer(CLAUDE, "allow")).toEqual(preToolUse("allow"));
    expect(answer(CLAUDE, "ask")).toEqual(preToolUse("ask"));
    expect(answer(CLAUDE, "deny")).toEqual(preToolUse("deny"));
  });

  it("never tells Codex's PreToolUse what it takes for a broken hook", () => {
    expect(answer(CODEX, "allow")).toEqual({});
    expect(answer(CODEX, "ask")).toEqual(preToolUse("deny", expect.stringContaining("--wait")));
    expect(answer(CODEX, "deny")).toEqual(preToolUse("deny"));
    expect(answer(CLAUDE, "ask", "codex")).toEqual(
      preToolUse("deny", expect.stringContaining("why")),
    );
  });

  it.each([CLAUDE, CODEX])(
    "leaves a request for permission open where a person is to be asked",
    (event) => {
      const request = { ...event, hook_event_name: "PermissionRequest" };
      expect(answer(request, "allow")).toEqual(permission({ behavior: "allow" }));
      expect(answer(request, "ask")).toEqual({});
      expect(answer(request, "deny")).toEqual(permission({ behavior: "deny", message: "why" }));
    },
  );

  it("speaks to Gemini CLI and Cursor", () => {
    expect(answer(GEMINI, "allow")).toEqual({ decision: "allow" });
    expect(answer(GEMINI, "ask")).toEqual({ decision: "ask", reason: "why", systemMessage: "why" });
    expect(answer(GEMINI, "deny")).toEqual({
      decision: "deny",
      reason: "why",
      systemMessage: "why",
    });
    expect(answer(CURSOR, "allow")).toEqual({ permission: "allow" });
    expect(answer(CURSOR, "ask")).toEqual({
      permission: "ask",
      user_message: "why",
      agent_message: "why",
    });
    expect(answer(CURSOR, "deny")).toEqual({
      permission: "deny",
      user_message: "why",
      agent_message: "why",
    });
  });
});

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { acp, scratch } from "./harness.js";
import type { AcpOptions, Ended } from "./harness.js";

const hook = (
  event: unknown,
  args: readonly string[] = [],
  options: AcpOptions = {},
): Promise<Ended> =>
  acp(["exec", "hook", ...args], {
    input: typeof event === "string" ? event : JSON.stringify(event),
    ...options,
  });

const bash = (command: unknown, more: object = {}): object => ({
  session_id: "s",
  cwd: "/work/project",
  hook_event_name: "PreToolUse",
  tool_name: "Bash",
  tool_input: { command },
  ...more,
});

describe("acp exec hook", () => {
  const decisionOf = ({ stdout }: Ended) =>
    JSON.parse(stdout).hookSpecificOutput.permissionDecision;

  it("tells Claude Code to go on, to ask, and why", async () => {
    const safe = await hook(bash("git status"), ["claude-code"]);
    expect([safe.code, safe.stderr, decisionOf(safe)]).toEqual([0, "", "allow"]);
    const review = await hook(bash("npm publish"), ["claude-code"]);
    expect([review.code, review.stderr]).toEqual([0, ""]);
    expect(JSON.parse(review.stdout)).toEqual({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "ask",
        permissionDecisionReason: expect.stringMatching(/^acp: the command needs review: /),
      },
    });
    const dangerous = await hook(bash("sudo rm -rf /"));
    expect(JSON.parse(dangerous.stdout).hookSpecificOutput.permissionDecisionReason).toMatch(
      /^acp: the command is dangerous: /,
    );
  });

  it("does what the profile says", async () => {
    await using at = await scratch();
    const profile = join(at.path, "config.json");
    await writeFile(
      profile,
      JSON.stringify({ execApproval: { ask: "off", allowlist: [{ pattern: "git push **" }] } }),
    );
    expect(
      decisionOf(await hook(bash("git push origin main"), ["claude-code", "--profile", profile])),
    ).toBe("allow");
    expect(decisionOf(await hook(bash("npm publish"), ["claude-code", "--profile", profile]))).toBe(
      "deny",
    );
    await writeFile(profile, JSON.stringify({ execApproval: { security: "deny" } }));
    expect(decisionOf(await hook(bash("git status"), ["claude-code", "--profile", profile]))).toBe(
      "deny",
    );
  });

  it("denies Codex what needs a person, and is silent about what is safe", async () => {
    const codex = (command: string) =>
      hook(bash(command, { turn_id: "t", model: "m", transcript_path: null }));
    expect((await codex("git status")).stdout).toBe("{}\n");
    expect(decisionOf(await codex("npm publish"))).toBe("deny");
    const request = await hook(bash("npm publish", { hook_event_name: "PermissionRequest" }), [
      "codex",
    ]);
    expect([request.code, request.stdout]).toEqual([0, "{}\n"]);
    const allowed = await hook(bash("git status", { hook_event_name: "PermissionRequest" }), [
      "codex",
    ]);
    expect(JSON.parse(allowed.stdout).hookSpecificOutput.decision).toEqual({ behavior: "allow" });
  });

  it("speaks to Gemini CLI and Cursor", async () => {
    const gemini = (command: string) =>
      hook(
        {
          cwd: "/work",
          hook_event_name: "BeforeTool",
          tool_name: "run_shell_command",
          tool_input: { command },
        },
        ["gemini-cli"],
      );
    expect(JSON.parse((await gemini("git status")).stdout)).toEqual({ decision: "allow" });
    expect(JSON.parse((await gemini("npm publish")).stdout).decision).toBe("ask");
    const cursor = (command: string) =>
      hook(
        { hook_event_name: "beforeShellExecution", command, cwd: "", workspace_roots: ["/work"] },
        ["cursor"],
      );
    expect(JSON.parse((await cursor("git status")).stdout)).toEqual({ permission: "allow" });
    expect(JSON.parse((await cursor("npm publish")).stdout).permission).toBe("ask");
  });

  it("has no decision about other tools", async () => {
    const { code, stdout } = await hook(
      bash(undefined, { tool_name: "Read", tool_input: { file_path: "/etc/passwd" } }),
      ["claude-code"],
    );
    expect([code, stdout]).toEqual([0, "{}\n"]);
  });

  it("judges where the command runs, in the project that the operator or the agent names", async () => {
    const at = async (
      cwd: string,
      args: readonly string[] = [],
      env: Readonly<Record<string, string>> = {},
    ) =>
      decisionOf(await hook(bash("cat ../notes.txt", { cwd }), ["claude-code", ...args], { env }));
    expect(await at("/work/project/src", [], { CLAUDE_PROJECT_DIR: "/work/project" })).toBe(
      "allow",
    );
    expect(await at("/work/project", [], { CLAUDE_PROJECT_DIR: "/work/project" })).toBe("ask");
    expect(await at("/work/project/src", ["--project", "/work/project"])).toBe("allow");
    expect(
      await at("/etc/ssl", ["--project", "/work/project"], { CLAUDE_PROJECT_DIR: "/etc" }),
    ).toBe("ask");
    expect(await at("/work/project/src")).toBe("ask");
    const alone = async (cwd: string) =>
      decisionOf(await hook(bash("cat notes.txt", { cwd }), ["claude-code"]));
    expect(await alone("/work/project")).toBe("allow");
    for (const cwd of ["/", "/etc/ssl", "/home/ada", "/work/../etc"])
      expect([cwd, await alone(cwd)]).toEqual([cwd, "ask"]);
  });

  it.each(["/", "/etc", "/home/ada"])(
    "takes %s for no project, though the agent was opened there, unless the operator says so",
    async (root) => {
      const at = async (command: string, cwd: string, ...args: readonly string[]) =>
        decisionOf(
          await hook(bash(command, { cwd }), ["claude-code", ...args], {
            env: { CLAUDE_PROJECT_DIR: root },
          }),
        );
      expect(await at("cat proc/1/environ", root)).toBe("ask");
      expect(await at("cat notes.txt", "/work/project")).toBe("allow");
      expect(await at("cat ../notes.txt", "/work/project")).toBe("ask");
      expect(await at("cat notes.txt", root, "--project", root)).toBe("allow");
    },
  );

  it("does not judge as bash what another shell reads", async () => {
    const under = async (command: string, SHELL: string): Promise<unknown> =>
      JSON.parse((await hook(bash(command), ["claude-code"], { env: { SHELL } })).stdout)
        .hookSpecificOutput;
    const asks = (why: string) => ({
      permissionDecision: "ask",
      permissionDecisionReason: expect.stringContaining(why),
    });
    expect(await under("git status", "/usr/bin/fish")).toMatchObject(
      asks("another shell than bash"),
    );
    expect(await under("git status", "/bin/zsh")).toMatchObject({ permissionDecision: "allow" });
    expect(await under("ls =git", "/bin/zsh")).toMatchObject(asks("zsh"));
  });

  it.each([
    ["nothing", "", []],
    ["no JSON", "{", []],
    ["two objects", "{}{}", []],
    ["a key twice", '{"hook_event_name":"PreToolUse","tool_name":"Read","tool_name":"Bash"}', []],
    ["a list", "[]", []],
    ["an empty object", {}, []],
    ["another event", { hook_event_name: "Stop" }, ["claude-code"]],
    ["another agent's event", bash("git status"), ["cursor"]],
    ["no command", bash(undefined), ["claude-code"]],
    ["a blank command", bash("  "), ["claude-code"]],
    ["a command with a NUL", bash("ls\u0000"), ["claude-code"]],
    ["a list of words", bash(["ls"]), ["codex"]],
    ["a relative directory", bash("ls", { cwd: "src" }), ["claude-code"]],
    ["a relative project", bash("ls"), ["claude-code", "--project", "src"]],
    ["an unknown agent", bash("git status"), ["claude"]],
    ["a misspelt option", bash("git status"), ["claude-code", "--profil", "x"]],
    ["a missing profile", bash("git status"), ["claude-code", "--profile", "/nowhere/config.json"]],
  ])("blocks %s, in every way that an agent reads", async (_name, event, args) => {
    const { code, stdout, stderr } = await hook(event, args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^acp: \S.*\]\n$/);
    expect(stdout).not.toMatch(/"(allow|ask)"/);
  });

  it("blocks with a profile that does not load", async () => {
    await using at = await scratch();
    const profile = join(at.path, "config.json");
    await writeFile(profile, '{"execApproval":{"security":"open"}}');
    const { code, stdout, stderr } = await hook(bash("git status"), [
      "claude-code",
      "--profile",
      profile,
    ]);
    expect([code, decisionOf({ stdout } as Ended), stderr]).toEqual([
      2,
      "deny",
      expect.stringContaining("[config_invalid]"),
    ]);
  });
});

describe("acp exec hook while acp pause is set", () => {
  it("denies what a person would be asked about, and everything of a paused agent", async () => {
    await using at = await scratch();
    const home = at.path;
    const decision = async (command: string, agent: string): Promise<string> =>
      JSON.parse((await hook(bash(command), [agent], { home })).stdout).hookSpecificOutput
        .permissionDecision;
    expect((await acp(["pause"], { home })).code).toBe(0);
    expect(await decision("npm publish", "claude-code")).toBe("deny");
    expect(await decision("git status", "claude-code")).toBe("allow");
    await acp(["pause", "--off"], { home });
    expect(await decision("npm publish", "claude-code")).toBe("ask");
    await acp(["pause", "--agent", "claude-code"], { home });
    expect(await decision("git status", "claude-code")).toBe("deny");
    await acp(["pause", "--agent", "claude-code", "--off"], { home });
    expect(await decision("git status", "claude-code")).toBe("allow");
  });
});

describe("acp exec hook and the log of the home", () => {
  const linesOf = async (
    home: string,
  ): Promise<
    readonly { readonly event_type: string; readonly metadata: Record<string, unknown> }[]
  > =>
    (await readFile(join(home, "audit.jsonl"), "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));

  it("keeps each decision and each outcome, and the log is whole", async () => {
    await using at = await scratch();
    const home = ["--home", at.path];
    const named = { tool_use_id: "toolu_1" };
    await hook(bash("git status", named), ["claude-code", ...home]);
    await hook(bash("npm publish"), ["claude-code", ...home]);
    const after = await hook(
      bash("git status", {
        ...named,
        hook_event_name: "PostToolUse",
        tool_response: { stdout: "secret" },
      }),
      ["claude-code", ...home],
    );
    expect([after.code, after.stdout]).toEqual([0, "{}\n"]);
    await hook(bash("npm publish", { hook_event_name: "PostToolUseFailure", error: "token abc" }), [
      "claude-code",
      ...home,
    ]);
    const lines = await linesOf(at.path);
    expect(lines.map(({ event_type }) => event_type)).toEqual([
      "tool_call_intercepted",
      "policy_evaluated",
      "tool_call_intercepted",
      "policy_evaluated",
      "tool_call_forwarded",
      "tool_call_completed",
      "tool_call_forwarded",
      "tool_call_completed",
    ]);
    expect(lines[0]?.metadata).toMatchObject({
      hook: "claude-code",
      tool_use_id: "toolu_1",
      session_id: "s",
      parameters: { command: "git status" },
    });
    expect(lines.map((line) => (line as { decision?: unknown }).decision)).toEqual([
      "",
      "allow",
      "",
      "ask",
      "allow",
      "allow",
      "allow",
      "allow",
    ]);
    expect(lines[5]?.metadata).toMatchObject({
      outcome: "performed",
      reported: true,
      forwarded_seq: 4,
      tool_use_id: "toolu_1",
    });
    expect(lines[7]?.metadata).toMatchObject({
      outcome: "failed",
      error: "tool_failed",
      reported: true,
      forwarded_seq: 6,
    });
    expect(JSON.stringify(lines)).not.toMatch(/secret|token abc/);
    expect((await acp(["audit", "verify", ...home])).code).toBe(0);
  });

  it("keeps what is blocked because it cannot be judged", async () => {
    await using at = await scratch();
    await hook(bash(undefined), ["claude-code", "--home", at.path]);
    expect(await linesOf(at.path)).toMatchObject([
      { event_type: "gate_notice", metadata: { notice: "hook_blocked", hook: "claude-code" } },
    ]);
  });

  it("blocks where the log cannot keep the decision", async () => {
    await using at = await scratch();
    await writeFile(join(at.path, "audit.jsonl"), "no log\n", { mode: 0o600 });
    const { code, stdout } = await hook(bash("git status"), ["claude-code", "--home", at.path]);
    expect([code, JSON.parse(stdout).hookSpecificOutput.permissionDecision]).toEqual([2, "deny"]);
  });

  it("makes no home", async () => {
    await using at = await scratch();
    const home = join(at.path, "none");
    expect((await hook(bash("git status"), ["claude-code", "--home", home])).code).toBe(0);
    await expect(readFile(join(home, "audit.jsonl"))).rejects.toThrow("ENOENT");
  });
});

it("acp exec hook --help has examples", async () => {
  const { code, stdout } = await acp(["exec", "hook", "--help"]);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/Examples:\n( {2}.*acp exec hook.*\n){3,}/),
  ]);
});

import { describe, expect, it } from "vitest";
import { httpAction, shellAction, toolAction } from "../action/action.js";
import type { ShellActionOptions } from "../action/action.js";
import type { Facts, Ruling } from "../layers.js";
import { parseExecApprovalConfig } from "./config.js";
import { evaluateShellAction, execFallback, execSafety } from "./layer.js";

const FACTS: Facts = { agent: { id: "a" }, nowMs: 0 };
const ROOT = "/work/project";
const GIT = { allowlist: [{ pattern: "git push **" }] };

function judge(
  command: string,
  config: object = {},
  at: ShellActionOptions = { cwd: ROOT },
): Ruling {
  const ruling = execSafety(parseExecApprovalConfig(config), { projectRoot: ROOT }).judge(
    shellAction(command, at),
    FACTS,
  );
  if (ruling === undefined) throw new Error("the layer abstained");
  return ruling;
}

describe("execSafety()", () => {
  it("abstains about everything but shell commands", () => {
    const layer = execSafety(parseExecApprovalConfig({ security: "deny" }));
    expect(layer.name).toBe("exec");
    expect(layer.judge(toolAction("files", "read_file"), FACTS)).toBeUndefined();
    expect(layer.judge(httpAction("GET", "https://example.com/"), FACTS)).toBeUndefined();
  });

  it("allows what is safe, at a low level", () => {
    expect(judge("git status")).toEqual({
      effect: "allow",
      ruleId: "exec.safe",
      reason: expect.any(String),
      level: "low",
    });
  });

  it("asks about the rest with the configured time, the reason in words and its id", () => {
    const ruling = judge("git push origin main", { timeoutMs: 5_000 });
    expect(ruling).toMatchObject({ effect: "ask", level: "medium", ask: { timeoutMs: 5_000 } });
    expect(ruling.ruleId).toMatch(/^exec\.[a-z-]+\.[a-z-]+$/);
    expect(ruling.reason).toMatch(/^the command needs review: \S/);
  });

  it("calls what is dangerous critical, and no entry lifts it", () => {
    const config = { allowlist: [{ pattern: "sudo **" }, { pattern: "rm **" }] };
    expect(judge("sudo rm -rf /", config)).toMatchObject({ effect: "ask", level: "critical" });
    expect(judge("sudo rm -rf /", { ...config, ask: "off" }).effect).toBe("deny");
    expect(judge("sudo rm -rf /").reason).toMatch(/^the command is dangerous: /);
  });

  it("lets an entry lift the command that it matches, and no other command of the line", () => {
    expect(judge("git push origin main", GIT)).toMatchObject({
      effect: "allow",
      ruleId: "exec.safe",
      level: "low",
    });
    expect(judge("git push origin main; npm publish", GIT).effect).toBe("ask");
    expect(judge("npm publish", GIT).effect).toBe("ask");
  });

  it("denies everything under security deny, in words that tell nothing about the command", () => {
    expect(judge("git status", { security: "deny" })).toEqual({
      effect: "deny",
      ruleId: "exec.security-deny",
      reason: "commands may not run at all",
      level: "low",
    });
    expect(judge("sudo rm -rf /", { security: "deny" })).toMatchObject({
      effect: "deny",
      level: "critical",
    });
  });

  it("keeps the level under security full", () => {
    expect(judge("npm publish", { security: "full" })).toMatchObject({
      effect: "allow",
      level: "medium",
    });
    expect(judge("git status", { security: "full", ask: "always" })).toMatchObject({
      effect: "ask",
      level: "low",
    });
  });

  it.each(["bash", "/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", undefined])(
    "judges as bash what %s reads",
    (shell) => {
      expect(
        judge("git status", {}, { cwd: ROOT, ...(shell !== undefined && { shell }) }).effect,
      ).toBe("allow");
    },
  );

  it.each([
    "/tmp/zsh",
    "/bin/sh",
    "/usr/bin/fish",
    "powershell",
    "cmd.exe",
    "/tmp/bash",
    "./bash",
    "bash -i",
    "Bash",
    "rbash",
  ])("never judges as bash what %s reads", (shell) => {
    const at = { cwd: ROOT, shell };
    expect(judge("git status", {}, at)).toMatchObject({
      effect: "ask",
      ruleId: "exec.shell.not-bash",
      level: "medium",
    });
    expect(judge("git push x", GIT, at).effect).toBe("ask");
    expect(judge("sudo rm -rf /", {}, at).level).toBe("critical");
  });

  it.each(["zsh", "/bin/zsh", "/opt/homebrew/bin/zsh"])(
    "reads as %s what means the same there",
    (shell) => {
      const at = { cwd: ROOT, shell };
      expect(judge("git status | head -3", {}, at).effect).toBe("allow");
      expect(judge("ls =cat", {}, at)).toMatchObject({
        effect: "ask",
        ruleId: "exec.shell.zsh",
        level: "medium",
      });
      expect(judge("frobnicate", {}, at).effect).toBe("ask");
      expect(judge("sudo rm -rf /", {}, at).level).toBe("critical");
    },
  );

  it("lets curl ask the ports that the configuration names", () => {
    expect(judge("curl -s http://localhost:3000/", { loopbackPorts: [3000] }).effect).toBe("allow");
    expect(judge("curl -s http://localhost:3001/", { loopbackPorts: [3000] }).effect).toBe("ask");
    expect(judge("curl -s http://localhost:3000/", {}).effect).toBe("ask");
  });

  it("looks at where the command runs", () => {
    expect(judge("cat notes.txt", {}, { cwd: `${ROOT}/src` }).effect).toBe("allow");
    expect(judge("cat ../notes.txt", {}, { cwd: `${ROOT}/src` }).effect).toBe("allow");
    expect(judge("cat notes.txt", {}, { cwd: "/etc" }).effect).toBe("ask");
    expect(judge("cat notes.txt", {}, { cwd: `${ROOT}/../..` }).effect).toBe("ask");
    expect(judge("cat notes.txt", {}, { cwd: "elsewhere" }).effect).toBe("ask");
  });

  it("without a root takes the directory for the project, unless it is no project's", () => {
    const layer = execSafety(parseExecApprovalConfig({}));
    const effectAt = (cwd: string) =>
      layer.judge(shellAction("cat notes.txt", { cwd }), FACTS)?.effect;
    expect(effectAt("/work/project")).toBe("allow");
    expect(["/", "/etc/ssl", "/home/ada", "/root", "elsewhere"].map(effectAt)).toEqual([
      "ask",
      "ask",
      "ask",
      "ask",
      "ask",
    ]);
  });

  it("takes no git command for safe in a workspace that nobody trusts", () => {
    const layer = execSafety(parseExecApprovalConfig({}), {
      projectRoot: ROOT,
      trustedWorkspace: false,
    });
    expect(layer.judge(shellAction("git status", { cwd: ROOT }), FACTS)?.effect).toBe("ask");
  });

  it("says the same again, whatever it judged in between", () => {
    const layer = execSafety(parseExecApprovalConfig({}), { projectRoot: ROOT });
    const command = (index: number) =>
      shellAction(index % 3 === 0 ? `ls a${index}` : `frobnicate ${index}`, { cwd: ROOT });
    const once = Array.from({ length: 200 }, (_, index) => layer.judge(command(index), FACTS));
    const again = Array.from({ length: 200 }, (_, index) =>
      layer.judge(command(199 - index), FACTS),
    ).toReversed();
    expect(again).toEqual(once);
    expect(layer.judge(shellAction("ls a0", { cwd: "/etc" }), FACTS)).not.toEqual(once[0]);
    expect(layer.judge(shellAction("ls a0", { cwd: ROOT, shell: "fish" }), FACTS)?.effect).toBe(
      "ask",
    );
  });
});

describe("evaluateShellAction()", () => {
  it("gives what the layer judged", () => {
    const config = parseExecApprovalConfig(GIT);
    const safety = evaluateShellAction(
      shellAction("git push x", { cwd: ROOT, shell: "fish" }),
      config,
      { projectRoot: ROOT },
    );
    expect(safety).toMatchObject({
      riskLevel: "needs-review",
      layers: expect.arrayContaining(["shell-syntax"]),
    });
    expect(safety.reasons.map(({ ruleId }) => ruleId)).toContain("shell.not-bash");
  });

  it("never has more reasons than a person reads", () => {
    const line = Array.from({ length: 12 }, (_, index) => `frobnicate${index} x`).join("; ");
    const safety = evaluateShellAction(
      shellAction(line, { shell: "fish" }),
      parseExecApprovalConfig({}),
    );
    expect(safety.reasons).toHaveLength(8);
    expect(safety.reasons.at(-1)?.ruleId).toBe("shell.not-bash");
  });
});

describe("execFallback()", () => {
  const fallback = (command: string, config: object) =>
    execFallback(parseExecApprovalConfig(config), { projectRoot: ROOT }).judge(
      shellAction(command, { cwd: ROOT }),
      FACTS,
    )?.effect;

  it("denies by default, and never asks", () => {
    expect(fallback("git status", {})).toBe("deny");
    expect(fallback("git status", { ask: "always" })).toBe("deny");
  });

  it("with allowlist allows what is listed, safe or lifted, and nothing else", () => {
    const config = { ask: "always", askFallback: "allowlist", allowlist: [{ pattern: "git **" }] };
    expect(fallback("git push origin main", config)).toBe("allow");
    expect(fallback("git status", config)).toBe("allow");
    expect(fallback("ls", config)).toBe("deny");
    expect(fallback("git status; ls", config)).toBe("deny");
    expect(fallback("git push origin main > /etc/x", config)).toBe("deny");
  });

  it("with full allows everything but what is dangerous", () => {
    const config = { askFallback: "full", dangerouslyAllowOnTimeout: true };
    expect(fallback("npm publish", config)).toBe("allow");
    expect(fallback("sudo rm -rf /", config)).toBe("deny");
  });

  it("offers a wording in zsh that means the same there, and no other", () => {
    const rewriteOf = (command: string, shell: string) =>
      evaluateShellAction(shellAction(command, { shell }), parseExecApprovalConfig({})).rewrite;
    expect(rewriteOf("python3 -c 'print(1)'", "zsh")?.command).toBe("python3 -I -c 'print(1)'");
    expect(rewriteOf("python3 -c 'print(1)' =a", "bash")).toBeDefined();
    expect(rewriteOf("python3 -c 'print(1)' =a", "zsh")).toBeUndefined();
    expect(rewriteOf("python3 -c 'print(1)'", "fish")).toBeUndefined();
  });
});

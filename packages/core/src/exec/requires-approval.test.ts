import { describe, expect, it } from "vitest";
import { parseExecApprovalConfig } from "./config.js";
import { execEffect, fallbackEffect, requiresApproval } from "./requires-approval.js";
import type { CommandRisk, CommandSafety, ParsedCommand } from "@acp/exec-safety";

const span = { start: 0, end: 1 };

function safetyOf(
  riskLevel: CommandRisk,
  commands: readonly ParsedCommand[] = [{ span, program: "git", args: ["push"] }],
): CommandSafety {
  return { riskLevel, reasons: [], commands, layers: [] };
}

const COMBINATIONS = [
  // security, ask, safe, needs-review, dangerous
  ["deny", "off", "deny", "deny", "deny"],
  ["deny", "on-miss", "deny", "deny", "deny"],
  ["deny", "always", "deny", "deny", "deny"],
  ["allowlist", "off", "allow", "deny", "deny"],
  ["allowlist", "on-miss", "allow", "ask", "ask"],
  ["allowlist", "always", "ask", "ask", "ask"],
  ["full", "off", "allow", "allow", "allow"],
  ["full", "on-miss", "allow", "allow", "allow"],
  ["full", "always", "ask", "ask", "ask"],
] as const;

describe.each(COMBINATIONS)("security %s, ask %s", (security, ask, safe, review, dangerous) => {
  const config = parseExecApprovalConfig({ security, ask });

  it.each([
    ["safe", safe],
    ["needs-review", review],
    ["dangerous", dangerous],
  ] as const)("execEffect() and requiresApproval() of what is %s", (risk, effect) => {
    expect(execEffect(config, safetyOf(risk))).toBe(effect);
    expect(requiresApproval(config, safetyOf(risk))).toBe(effect === "ask");
  });
});

describe("fallbackEffect()", () => {
  const fallback = (askFallback: string, more: object = {}) =>
    parseExecApprovalConfig({
      askFallback,
      allowlist: [{ pattern: "git **" }],
      ...(askFallback === "full" && { dangerouslyAllowOnTimeout: true }),
      ...more,
    });

  it.each([
    ["deny", "deny", "deny", "deny"],
    ["allowlist", "allow", "deny", "deny"],
    ["full", "allow", "allow", "deny"],
  ] as const)(
    "with %s: safe and listed %s, needs-review %s, dangerous %s",
    (askFallback, safe, review, dangerous) => {
      const config = fallback(askFallback);
      expect(fallbackEffect(config, safetyOf("safe"))).toBe(safe);
      expect(fallbackEffect(config, safetyOf("needs-review"))).toBe(review);
      expect(fallbackEffect(config, safetyOf("dangerous"))).toBe(dangerous);
    },
  );

  it("denies under security deny, whatever the fallback", () => {
    expect(fallbackEffect(fallback("full", { security: "deny" }), safetyOf("safe"))).toBe("deny");
    expect(fallbackEffect(fallback("allowlist", { security: "deny" }), safetyOf("safe"))).toBe(
      "deny",
    );
  });

  it("allows nothing for a configuration that was not parsed and lacks the word for it", () => {
    const config = { ...fallback("full"), dangerouslyAllowOnTimeout: false };
    expect(fallbackEffect(config, safetyOf("safe"))).toBe("deny");
  });

  it("with allowlist takes a command that was lifted, or that an entry matches, and no other", () => {
    const config = fallback("allowlist");
    const git: ParsedCommand = { span, program: "git", args: ["status"] };
    const lifted: ParsedCommand = {
      span,
      program: "pnpm",
      args: [undefined],
      allowedBy: "pnpm **",
    };
    const verdict = (...commands: readonly ParsedCommand[]) =>
      fallbackEffect(config, safetyOf("safe", commands));
    expect(verdict(git, lifted)).toBe("allow");
    expect(verdict(git, { span, program: "ls", args: [] })).toBe("deny");
    expect(verdict({ span, program: "git", args: ["log", undefined] })).toBe("deny");
    expect(verdict({ span, args: ["x"] })).toBe("deny");
    expect(verdict()).toBe("deny");
  });
});

import { describe, expect, it, vi } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";
import { SAFETY_LIMITS } from "../config/limits.js";
import { parseShell } from "../parse/parse-shell.js";
import type { ProgramRule } from "./rule.js";
import { DANGERS, rulesOf } from "./rules.js";
import { dangerousWalk } from "./dangerous-walk.js";

function dangersIn(command: string): readonly string[] {
  const parsed = parseShell(command, SAFETY_LIMITS);
  if ("refused" in parsed) throw new Error(`Cannot parse ${command}: ${parsed.refused.message}`);
  const found: string[] = [];
  dangerousWalk(
    parsed.script,
    { inside: "", projectRoot: undefined, trustedWorkspace: true },
    ({ ruleId }) => found.push(ruleId),
  );
  return found;
}

describe.each(DANGERS)("$ruleId", ({ ruleId, dangerous, not, message }) => {
  it.each(dangerous.map((command) => [command]))("dangerousWalk() reports it for %j", (command) => {
    expect(dangersIn(command)).toContain(ruleId);
    expect(evaluateCommandSafety(command).riskLevel).toBe("dangerous");
  });

  it.each(not.map((command) => [command]))("dangerousWalk() finds nothing in %j", (command) => {
    expect(dangersIn(command)).toEqual([]);
    expect(evaluateCommandSafety(command).riskLevel).not.toBe("dangerous");
  });

  it("has examples both ways, an id and a text for a person", () => {
    expect(dangerous.length).toBeGreaterThan(0);
    expect(not.length).toBeGreaterThan(0);
    expect(ruleId).toMatch(/^[a-z]+\.[a-z]+(?:-[a-z]+)*$/);
    expect(message).toMatch(/^[A-Zb`][^\n]+[^.\n]$/);
  });
});

const PROGRAM_RULES = DANGERS.filter((danger): danger is ProgramRule => "programs" in danger);

describe.each(PROGRAM_RULES)("the condition of $ruleId", (rule) => {
  it("is needed: without it an ordinary command would be dangerous", () => {
    const applies = vi.spyOn(rule, "applies").mockReturnValue(true);
    const found = rule.not.filter((command) => dangersIn(command).length > 0);
    applies.mockRestore();
    expect(found).not.toEqual([]);
  });

  it("names each program once", () => {
    expect(new Set(rule.programs).size).toBe(rule.programs.length);
  });
});

it("every class has its own id", () => {
  const ids = DANGERS.map(({ ruleId }) => ruleId);
  expect(new Set(ids).size).toBe(ids.length);
});

it("rulesOf() knows variants of mkfs and nothing of other programs", () => {
  expect(rulesOf("mkfs.ext4")).toBe(rulesOf("mkfs"));
  expect(rulesOf("constructor")).toEqual([]);
  expect(rulesOf("ls")).toEqual([]);
});

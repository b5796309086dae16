import { describe, expect, it } from "vitest";
import { SAFETY_LIMITS } from "../limits.js";
import { parseShell } from "../parse-shell.js";
import { DANGERS } from "./rules.js";
import { dangerousWalk } from "./walk.js";

function dangersIn(command: string): readonly string[] {
  const parsed = parseShell(command, SAFETY_LIMITS);
  if ("refused" in parsed) throw new Error(`Cannot parse ${command}: ${parsed.refused.message}`);
  const found: string[] = [];
  dangerousWalk(parsed.script, { inside: "", projectRoot: undefined, trustedWorkspace: true }, ({ ruleId }) => found.push(ruleId));
  return found;
}

describe.each(DANGERS)("$ruleId", ({ ruleId, dangerous, not, message }) => {
  it.each(dangerous.map((command) => [command]))("evaluateCommandSafety() reports it for %j", (command) => {
    expect(dangersIn(command)).toContain(ruleId);
  });

  it.each(not.map((command) => [command]))("evaluateCommandSafety() finds nothing dangerous in %j", (command) => {
    expect(dangersIn(command)).toEqual([]);
  });

  it("has examples both ways and a text for a person", () => {
    expect(dangerous.length).toBeGreaterThan(0);
    expect(not.length).toBeGreaterThan(0);
    expect(message).toMatch(/^[A-Zb`][^\n]+[^.\n]$/);
  });
});

it("every rule has its own id", () => {
  const ids = DANGERS.map(({ ruleId }) => ruleId);
  expect(new Set(ids).size).toBe(ids.length);
});

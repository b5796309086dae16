import { describe, expect, it } from "vitest";
import { toolAction } from "../action/action.js";
import type { JsonValue } from "../json/value.js";
import { createZoneClocks } from "./conditions.js";
import { readingsOf } from "./readings.js";
import { rule } from "./rule.js";
import type { Rule } from "./rule.js";
import { readWhole } from "./shape.js";
import { spotOf } from "./spot.js";

const facts = { agent: { id: "agent" }, nowMs: 0 };
const parse = (value: JsonValue, warnings: string[] = []): Rule =>
  readWhole(rule, spotOf(value, ["rules", 4]), {
    origins: {},
    read: readingsOf,
    clocks: createZoneClocks(),
    classify: () => [{ category: "read", risk: "low" }],
    warn: (warning) => warnings.push(warning),
    onDeniedPath: () => undefined,
  });

const match = { tool: "a" };
const write = toolAction("files", "a", { path: "x" });

describe("rule", () => {
  it("has its number as id, and a reason that names it", () => {
    expect(parse({ match, action: "deny" }).say(write, facts)).toEqual({
      effect: "deny",
      ruleId: "rule_5",
      reason: "rule rule_5 says deny",
    });
  });

  it("gives terms to an ask only, and seconds as milliseconds", () => {
    expect(parse({ match, action: "ask" }).say(write, facts).ask).toEqual({});
    expect(
      parse({ match, action: "ask", timeout: 0.001, quorum: 3 }).say(write, facts).ask,
    ).toEqual({ timeoutMs: 1, quorum: 3 });
    expect(parse({ match, action: "ask", timeout: 604_800 }).say(write, facts).ask).toEqual({
      timeoutMs: 604_800_000,
    });
    expect(parse({ match, action: "allow", timeout: 60 }).say(write, facts).ask).toBeUndefined();
  });

  it("claims its rate for allow and ask, not for deny", () => {
    expect(
      parse({ match, action: "allow", rate_limit: "1/day" }).say(write, facts).limits,
    ).toHaveLength(1);
    expect(
      parse({ match, action: "ask", rate_limit: "1/day" }).say(write, facts).limits,
    ).toHaveLength(1);
    expect(
      parse({ match, action: "deny", rate_limit: "1/day" }).say(write, facts).limits,
    ).toBeUndefined();
  });

  it("says the same object every time where nothing depends on the agent", () => {
    const parsed = parse({ match, action: "ask", approvers: ["ada"] });
    expect(parsed.say(write, facts)).toBe(parsed.say(write, facts));
  });

  it("warns of keys that do nothing", () => {
    const warnings: string[] = [];
    parse({ match, action: "deny", timeout: 5, rate_limit: "1/day" }, warnings);
    expect(warnings).toEqual([
      "rules[4].timeout does nothing: nobody is asked where the action is deny",
      "rules[4].rate_limit does nothing: the rule denies every call",
    ]);
  });

  it("reads keys that do nothing as strictly as any other", () => {
    for (const idle of [{ timeout: "a minute" }, { rate_limit: "often" }])
      expect(() => parse({ match, action: "deny", ...idle })).toThrow("expected a");
  });

  it("answers a moment that is none the safe way", () => {
    const conditions = { time_of_day: { after: "09:00", before: "17:00", timezone: "UTC" } };
    expect(parse({ match, action: "allow", conditions }).applies?.(Number.NaN)).toBe(false);
    expect(parse({ match, action: "ask", conditions }).applies?.(Number.NaN)).toBe(true);
    expect(parse({ match, action: "deny", conditions }).applies?.(Number.NaN)).toBe(true);
  });
});

import { describe, expect, it } from "vitest";
import { toolAction } from "../action/action.js";
import { parsePolicy } from "./parse.js";
import { rules } from "./rules-layer.js";

const facts = { agent: { id: "agent" }, nowMs: 0 };

describe("rules()", () => {
  const layer = rules(
    parsePolicy({
      version: "1",
      default: "allow",
      rules: [{ match: { tool: "a" }, action: "deny" }],
    }),
  );

  it("says what the first matching rule says", () => {
    expect(layer.name).toBe("rules");
    expect(layer.judge(toolAction("s", "a", {}), facts)).toMatchObject({
      effect: "deny",
      ruleId: "rule_1",
    });
  });

  it("abstains where no rule matches, whatever the default", () => {
    expect(layer.judge(toolAction("s", "b", {}), facts)).toBeUndefined();
  });
});

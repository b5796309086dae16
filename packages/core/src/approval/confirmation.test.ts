import { describe, expect, it } from "vitest";
import type { RiskLevel } from "../types/words.js";
import { confirmationWord, isCritical } from "./confirmation.js";

const request = (
  requiredLevel: RiskLevel,
  riskLevel: RiskLevel,
): Parameters<typeof confirmationWord>[0] => ({
  policy: { ruleId: "r", ruleName: "", requiredLevel },
  action: { tool: "t", server: "s", category: "write", riskLevel, parameters: {}, description: "" },
});

describe("confirmationWord()", () => {
  it.each<[RiskLevel, RiskLevel, string | undefined]>([
    ["critical", "low", "approve"],
    ["low", "critical", "approve"],
    ["critical", "critical", "approve"],
    ["high", "high", undefined],
    ["low", "medium", undefined],
  ])("for level %s and risk %s is %s", (level, risk, word) => {
    expect(confirmationWord(request(level, risk))).toBe(word);
    expect(isCritical(request(level, risk))).toBe(word !== undefined);
  });
});

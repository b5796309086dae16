/** A question to a person about an action, before its text is made. */
import { describeAction, type QuestionParts } from "../src/approval/text.js";
import { type Action, actionDigest, parametersOf } from "../src/index.js";

export function partsOf(
  action: Action,
  agent: QuestionParts["agent"] = { id: "demo" },
): QuestionParts {
  const { tool, server, parameters } = parametersOf(action);
  return {
    id: "cr_1",
    createdAtMs: 0,
    expiresAtMs: 120_000,
    agent,
    action: {
      tool,
      server,
      parameters,
      category: "write",
      riskLevel: "medium",
      description: describeAction(action),
    },
    policy: { ruleId: "r", ruleName: "", requiredLevel: "medium" },
    nonce: "n_1",
    actionDigest: actionDigest(action),
    quorum: 1,
    evidence: "any",
    offers: [],
    secrets: [],
  };
}

/** A pending record as a gate makes it, for tests of stores. */
import { actionDigest, actionToJson, type PendingRecord, toolAction } from "@acp/core";

const START_MS = 1_768_473_000_000;

/**
 * An open question about `write_file` for tests, asked at 2026-01-15T10:30:00.000Z for two minutes.
 */
export function pendingRecord({ id = "cr_1" }: { readonly id?: string } = {}): PendingRecord {
  const action = toolAction("files", "write_file", { path: "a.txt" });
  const digest = actionDigest(action);
  return {
    id,
    version: 0,
    status: "created",
    request: {
      id,
      createdAtMs: START_MS,
      expiresAtMs: START_MS + 120_000,
      agent: { id: "demo" },
      action: {
        tool: "write_file",
        server: "files",
        category: "write",
        riskLevel: "medium",
        parameters: action.args,
        description: "call write_file on files",
      },
      policy: { ruleId: "rule_1", ruleName: "", requiredLevel: "medium" },
      nonce: "n_1",
      actionDigest: digest,
      text: "Agent: demo",
      quorum: 1,
      evidence: "any",
      offers: [],
      secrets: [],
    },
    agentId: "demo",
    originalDigest: digest,
    action: actionToJson(action),
    approvals: [],
    deferred: false,
    adopted: false,
  };
}

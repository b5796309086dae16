/**
 * Deny codes: one row each with meaning, remedy and whether a retry can help.
 * docs/reference/deny-codes.md is made from this table.
 */

/** What a deny code means. */
export interface DenyRow {
  /** What happened, for people. */
  readonly meaning: string;
  /** What the agent or its operator can do about it. */
  readonly remedy: string;
  /** Whether the same call may succeed later without a change of the policy or the setup. */
  readonly retryable: boolean;
}

/** Every code that an action can be denied with. Codes are stable; new ones may be added. */
export const DENY_CODE_LIST = [
  "policy_denied",
  "rate_limited",
  "consent_denied",
  "consent_expired",
  "consent_cancelled",
  "consent_deferred",
  "paused",
  "agent_paused",
  "no_approver",
  "evidence_unavailable",
  "not_performable",
  "channel_unavailable",
  "channel_failed",
  "too_many_pending",
  "too_many_questions",
  "client_limit_reached",
  "audit_failed",
  "signer_failed",
  "layer_failed",
  "policy_failed",
  "assessor_failed",
  "store_failed",
  "vault_failed",
  "action_invalid",
  "action_too_large",
  "arguments_invalid",
  "definition_changed",
  "definition_unknown",
  "context_invalid",
  "permit_refused",
  "gate_closed",
  "internal_error",
] as const;

/** Why an action is denied: one of {@link DENY_CODE_LIST}. */
export type DenyCode = (typeof DENY_CODE_LIST)[number];

/** Meaning and remedy of every code, and whether a retry can help. */
export const DENY_CODES: Readonly<Record<DenyCode, DenyRow>> = {
  policy_denied: {
    meaning: "A policy rule or the policy's default denies the action.",
    remedy: "Choose another way; the operator can read the rule with `acp policy explain`",
    retryable: false,
  },
  rate_limited: {
    meaning: "The rule's rate limit is used up.",
    remedy: "Wait until retryAfterMs is over, then call again",
    retryable: true,
  },
  consent_denied: {
    meaning: "A person denied the action.",
    remedy: "Do not repeat the call; ask the person what they would accept",
    retryable: false,
  },
  consent_expired: {
    meaning: "Nobody answered in time.",
    remedy: "Call again with the same arguments when a person is there to answer",
    retryable: true,
  },
  consent_cancelled: {
    meaning: "The caller went away, or the question was withdrawn, before it was answered.",
    remedy:
      "Call again with the same arguments if the action is still wanted: a question that is still open is found again",
    retryable: true,
  },
  consent_deferred: {
    meaning: "The question is still open and the caller was told to call again.",
    remedy: "Call again with the same arguments",
    retryable: true,
  },
  paused: {
    meaning: "Questions are paused.",
    remedy: "Wait for the operator; the reason says what ends the pause",
    retryable: true,
  },
  agent_paused: {
    meaning: "The agent is paused: all of its calls are denied.",
    remedy:
      "Stop and wait; the operator resumes the agent with `acp pause --agent ID --off` or in the inbox",
    retryable: true,
  },
  no_approver: {
    meaning:
      "Too few approvers who may answer are left, or several people are needed and the gate has no named approvers.",
    remedy: "The operator must name approvers that every rule accepts",
    retryable: false,
  },
  evidence_unavailable: {
    meaning: "The rule requires a kind of evidence that no verifier here can check.",
    remedy: "The operator must configure a verifier for it",
    retryable: false,
  },
  not_performable: {
    meaning:
      "Asking a person would be pointless: the program that performs the action knows that it cannot.",
    remedy: "Do not repeat the call as it is; the reason says what keeps it from being performed",
    retryable: false,
  },
  channel_unavailable: {
    meaning: "There is nobody to ask: no terminal and no attached approver.",
    remedy: "The operator must run `acp approve` in a second terminal, then call again",
    retryable: true,
  },
  channel_failed: {
    meaning: "The channel could not show the question.",
    remedy: "The operator must check the channel; call again later",
    retryable: true,
  },
  too_many_pending: {
    meaning: "Too many questions are open, of this agent or of all together.",
    remedy: "Wait for open questions to be answered, then call again",
    retryable: true,
  },
  too_many_questions: {
    meaning: "The agent has put more questions to people than its prompt limit allows.",
    remedy: "Wait until retryAfterMs is over; meanwhile make only calls that need no approval",
    retryable: true,
  },
  client_limit_reached: {
    meaning:
      "The client has as many calls or questions open, or writes as much of the log, as one client of a shared gate may.",
    remedy: "Wait for calls and questions that are open, then call again",
    retryable: true,
  },
  audit_failed: {
    meaning: "The audit log cannot keep the decision, so nothing is released.",
    remedy: "The operator must fix the audit log",
    retryable: false,
  },
  signer_failed: {
    meaning: "The answer could not be signed, so nothing is released.",
    remedy: "The operator must check the signing key; call again later",
    retryable: true,
  },
  layer_failed: {
    meaning: "A layer threw while judging the action.",
    remedy: "The operator must fix the layer",
    retryable: false,
  },
  policy_failed: {
    meaning: "The policy could not be read.",
    remedy: "The operator must fix the policy",
    retryable: false,
  },
  assessor_failed: {
    meaning: "An assessor threw or did not answer in time.",
    remedy: "The operator must check the assessor; call again later",
    retryable: true,
  },
  store_failed: {
    meaning: "A store threw.",
    remedy: "The operator must check the store; call again later",
    retryable: true,
  },
  vault_failed: {
    meaning: "The vault could not inject what was approved.",
    remedy: "The operator must check the vault",
    retryable: false,
  },
  action_invalid: {
    meaning: "The action is not one that a constructor made.",
    remedy: "Make it with toolAction(), httpAction(), shellAction() or parseAction()",
    retryable: false,
  },
  action_too_large: {
    meaning: "The action is too large to show to a person in full.",
    remedy: "Split it into smaller actions",
    retryable: false,
  },
  arguments_invalid: {
    meaning: "The arguments do not fit the tool's input schema.",
    remedy: "Correct the arguments as the reason says, then call again",
    retryable: false,
  },
  definition_changed: {
    meaning:
      "The tool's definition is not the one that was pinned, or is one that cannot be pinned.",
    remedy:
      "Use another tool, and tell the person: `acp mcp review` shows what changed, and they can accept it",
    retryable: false,
  },
  definition_unknown: {
    meaning:
      "The tool's server did not present its definition, so nobody can tell whether it changed.",
    remedy: "List the server's tools, and call one that it lists; the reason says what went wrong",
    retryable: true,
  },
  context_invalid: {
    meaning:
      "The call's context is unusable: it names no agent, or a part of it is of the wrong type, too long or computed by a getter.",
    remedy: "Pass { agent: { id } } as plain data within the limits of docs/how-to/embedding.md",
    retryable: false,
  },
  permit_refused: {
    meaning: "The permit was spent, expired, made for another action or issued by another gate.",
    remedy: "Ask the gate again",
    retryable: true,
  },
  gate_closed: {
    meaning: "The gate is shutting down.",
    remedy: "Call again after the restart",
    retryable: true,
  },
  internal_error: {
    meaning: "A part failed in a way that has no code of its own.",
    remedy: "Report it with the audit log's last events",
    retryable: false,
  },
};

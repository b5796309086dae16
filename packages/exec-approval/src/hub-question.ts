/** HubQuestion: what the clients of a hub are told about a question, and what its command's risk is. */
import {
  ConsentError,
  type ConsentRequest,
  isShellAction,
  parseAction,
  quoteText,
} from "@acp/core";
import { type CommandSafety, evaluateShellAction } from "@acp/core/exec";
import { approvalIdOf } from "./hub-ids.js";
import type { JudgeTerms } from "./hub-layers.js";
import type { ExecApprovalRequestPayload } from "./protocol.js";
import { keepQuestion } from "./trial/keep-trial.js";

const EXEC_RULE = /^exec\./;

/**
 * The operator's rule that wants a person's consent, where it is not the configuration alone that
 * asks.
 */
export function askingRule({ policy: { ruleId, ruleName } }: ConsentRequest): string | undefined {
  return EXEC_RULE.test(ruleId)
    ? undefined
    : `the rule ${quoteText(ruleName === "" ? ruleId : ruleName)} wants a person's consent`;
}

/** Makes the message about a question. */
export function describeWith(
  judge: (request: ConsentRequest) => CommandSafety,
): (request: ConsentRequest) => ExecApprovalRequestPayload {
  return (request) => {
    const { command, cwd } = request.action.parameters;
    const rule = askingRule(request);
    const withRule = (reasons: readonly string[]): readonly string[] =>
      rule === undefined ? reasons : [...reasons, rule];
    const head = { approvalId: approvalIdOf(request.id), agentId: request.agent.id };
    const { expiresAtMs } = request;
    const keep = keepQuestion(request);
    if (keep !== undefined) {
      const { text, reasons } = keep;
      const riskReasons = withRule(reasons);
      return { ...head, command: text, riskLevel: "needs-review", riskReasons, expiresAtMs };
    }
    const { riskLevel, reasons } = judge(request);
    return {
      ...head,
      command: typeof command === "string" ? command : "",
      ...(typeof cwd === "string" ? { cwd } : {}),
      riskLevel,
      riskReasons: withRule(reasons.map(({ message }) => message)),
      expiresAtMs,
    };
  };
}

/** Judges a question's command as the configuration stands now. */
export function judgeWith({
  read,
  safety,
}: JudgeTerms): (request: ConsentRequest) => CommandSafety {
  return ({ action: { tool, parameters } }) => {
    const { command, ...meta } = parameters;
    const action = parseAction({ name: tool, args: command, meta: { kind: "shell", ...meta } });
    if (!isShellAction(action))
      throw new ConsentError("action_invalid", "Cannot judge a question: it is about no command");
    return evaluateShellAction(action, read(), safety);
  };
}

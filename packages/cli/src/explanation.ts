/**
 * Explanation: what a gate would do with one action, and why. Found with a real gate whose channel
 * only remembers the question and whose log keeps nothing, so that it cannot differ from what would
 * happen. Nothing is performed, asked or written.
 */
import { actionDigest, actionToJson, createConsentGate } from "@acp/core";
import type {
  Action,
  Agent,
  AuditSink,
  Channel,
  ConsentRequest,
  Denied,
  Evaluation,
  GateOptions,
} from "@acp/core";
import { passkeyVerifier } from "./gate/passkeys.js";
import type { PolicySource } from "./home/policy-source.js";

/** What is known. */
export interface Explanation {
  readonly action: Action;
  readonly file: string;
  /** Of the deciding rule, from 1; `undefined` for the default. */
  readonly line: number | undefined;
  readonly evaluation: Evaluation;
  /** What a person would be asked. */
  readonly question: ConsentRequest | undefined;
  /** Where the policy asks, and nobody could be asked. */
  readonly unasked: Denied | undefined;
}

const AGENT: Agent = { id: "mcp-client" };

/** Explains what a gate with these options, beside the policy, would do. */
export async function explain(
  action: Action,
  { file, policy }: Pick<PolicySource, "file" | "policy">,
  options: Pick<GateOptions, "askTimeoutMs" | "approvers" | "groups" | "layers">,
): Promise<Explanation> {
  let question: ConsentRequest | undefined;
  const channel: Channel = {
    name: "terminal",
    deliver: (request) => {
      question = request;
      return Promise.resolve();
    },
  };
  const audit: AuditSink = { append: () => Promise.resolve({ seq: 0, hash: "" }) };
  // As every gate of the command line has one; here no proof comes.
  const verifiers = [passkeyVerifier(() => Promise.resolve([]))];
  await using gate = createConsentGate({
    policy: () => policy,
    channel,
    audit,
    verifiers,
    ...options,
  });
  const evaluation = gate.evaluate(action, { agent: AGENT });
  const opened =
    evaluation.ruling.effect === "ask" ? await gate.open(action, { agent: AGENT }) : undefined;
  if (opened?.decision === "pending") await opened.withdraw("only explained");
  const line = policy.rules.find(({ ruleId }) => ruleId === evaluation.ruling.ruleId)?.line;
  return {
    action,
    file,
    line,
    evaluation,
    question,
    unasked: opened?.decision === "deny" ? opened : undefined,
  };
}

/** The explanation as plain data. */
export function explanationToJson({
  action,
  file,
  line,
  evaluation,
  question,
  unasked,
}: Explanation): Readonly<Record<string, unknown>> {
  const { ruling, layer, rulings, category, risk, level, ask } = evaluation;
  return {
    effect: ruling.effect,
    rule: { id: ruling.ruleId, name: ruling.ruleName, file, line },
    layer,
    reason: ruling.reason,
    category,
    risk,
    level,
    limits: ruling.limits,
    ask:
      ask === undefined ? undefined : { ...ask, approvers: question?.approvers ?? ask.approvers },
    question: question?.text,
    unasked:
      unasked === undefined
        ? undefined
        : { code: unasked.code, reason: unasked.reason, remedy: unasked.remedy },
    rulings,
    action: actionToJson(action),
    digest: actionDigest(action),
  };
}

/**
 * `acp policy explain`: which rule decides an action, why, and what a person would be asked. Nothing is performed, asked or written.
 */
import { actionDigest, actionToJson, createConsentGate, escapeText, parametersOf } from "@acp/core";
import type { Action, Agent, AuditSink, Channel, ConsentGate, ConsentRequest, Effect, Evaluation } from "@acp/core";
import { readActionArgument } from "../action-argument.js";
import type { Run } from "../command.js";
import { showDuration } from "../duration.js";
import { readPolicySource } from "../policy-source.js";
import type { PolicySource } from "../policy-source.js";
import type { Tone } from "../printer.js";

const AGENT: Agent = { id: "mcp-client" };
const TONES: Readonly<Record<Effect, Tone>> = { allow: "green", ask: "yellow", deny: "red" };

/** Runs the command. */
export const policyExplain: Run = async (invocation) => {
  const { print } = invocation;
  const action = await readActionArgument(invocation);
  const source = await readPolicySource(invocation);
  const asked: ConsentRequest[] = [];
  await using gate = dryGate(source, asked);
  const evaluation = gate.evaluate(action, { agent: AGENT });
  if (evaluation.ruling.effect === "ask") await ask(gate, action);
  const line = source.policy.rules.find(({ ruleId }) => ruleId === evaluation.ruling.ruleId)?.line;
  const question = asked[0]?.text;
  print.result(asJson({ action, evaluation, line, question, file: source.file }), () => {
    const { effect } = evaluation.ruling;
    const place = line === undefined ? source.file : `${source.file}:${line}`;
    return [
      `${print.tone(TONES[effect], effect)} ${describe(action)}`,
      ...explain(evaluation, place),
      ...(question === undefined ? [] : ["", "A person would be asked:", "", ...indent(question)]),
    ];
  });
  return "ok";
};

/** The gate as it is, but for a channel that only remembers the question and a log that keeps nothing. */
function dryGate({ policy }: PolicySource, asked: ConsentRequest[]): ConsentGate {
  const channel: Channel = {
    name: "terminal",
    deliver: (request) => {
      asked.push(request);
      return Promise.resolve();
    },
  };
  const audit: AuditSink = { append: () => Promise.resolve({ seq: 0, hash: "" }) };
  return createConsentGate({ policy, channel, audit });
}

async function ask(gate: ConsentGate, action: Action): Promise<void> {
  const opened = await gate.open(action, { agent: AGENT });
  if (opened.decision === "pending") await opened.withdraw("only explained");
}

function describe(action: Action): string {
  const { tool, server } = parametersOf(action);
  return escapeText(`${action.meta.kind} ${server === "" ? tool : `${tool} on ${server}`}`);
}

function explain({ ruling, category, risk, level, ask: terms }: Evaluation, place: string): readonly string[] {
  const name = ruling.ruleName === undefined ? "" : ` "${escapeText(ruling.ruleName)}"`;
  const limits = (ruling.limits ?? []).map(({ max, windowMs }) => `${max} in ${showDuration(windowMs)}`);
  return [
    `  rule   ${escapeText(ruling.ruleId)}${name} (${place})`,
    `  why    ${escapeText(ruling.reason)}`,
    `  risk   ${risk} (${category})${level === risk ? "" : `, asked as ${level}`}`,
    ...(limits.length === 0 ? [] : [`  limit  ${limits.join(", ")}`]),
    ...(terms === undefined
      ? []
      : [
          `  ask    ${terms.approvers === undefined ? "whoever is at the terminal" : terms.approvers.join(", ")}; denied after ${showDuration(terms.timeoutMs)}${terms.quorum > 1 ? `; ${terms.quorum} people` : ""}`,
        ]),
  ];
}

const indent = (text: string): readonly string[] => text.split("\n").map((line) => `  ${line}`);

interface Explained {
  readonly action: Action;
  readonly evaluation: Evaluation;
  readonly line: number | undefined;
  readonly question: string | undefined;
  readonly file: string;
}

function asJson({ action, evaluation, line, question, file }: Explained): unknown {
  const { ruling, layer, rulings, category, risk, level, ask: terms } = evaluation;
  return {
    effect: ruling.effect,
    rule: { id: ruling.ruleId, name: ruling.ruleName, file, line },
    layer,
    reason: ruling.reason,
    category,
    risk,
    level,
    limits: ruling.limits,
    ask: terms,
    question,
    rulings,
    action: actionToJson(action),
    digest: actionDigest(action),
  };
}

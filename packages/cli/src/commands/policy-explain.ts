/**
 * `acp policy explain`: which rule decides an action, why, and what a person would be asked.
 */
import { escapeText, parametersOf } from "@acp/core";
import type { Effect, Layer } from "@acp/core";
import { readActionArgument } from "../action-argument.js";
import type { Invocation, Run } from "../command.js";
import { showDuration } from "../duration.js";
import { explain, explanationToJson } from "../explanation.js";
import type { Explanation } from "../explanation.js";
import { openGuard } from "../gate/guard.js";
import { homeOf } from "../home/home-source.js";
import { gateOptionsOf, readHomeConfig } from "../gate/config.js";
import { readPolicySource } from "../home/policy-source.js";
import type { Printer, Tone } from "../printer.js";

const TONES: Readonly<Record<Effect, Tone>> = { allow: "green", ask: "yellow", deny: "red" };

/** Runs the command. */
export const policyExplain: Run = async (invocation) => {
  const { print } = invocation;
  const action = await readActionArgument(invocation);
  const source = await readPolicySource(invocation.operands[0], invocation);
  const explanation = await explain(action, source, {
    ...gateOptionsOf({ config: source.source?.config }),
    layers: await layersOf(invocation),
  });
  print.result(explanationToJson(explanation), () => render(explanation, print));
  return "ok";
};

/**
 * What every gate of the home has beside its policy. A policy that is named by its file is
 * explained by itself.
 */
async function layersOf(invocation: Invocation): Promise<readonly Layer[]> {
  if (invocation.operands.length > 0) return [];
  const home = await homeOf(invocation);
  return [await openGuard({ home, source: await readHomeConfig(home, invocation), invocation })];
}

function render(explanation: Explanation, print: Printer): readonly string[] {
  const { action, file, line, evaluation, question, unasked } = explanation;
  const { ruling, category, risk, level } = evaluation;
  const { tool, server } = parametersOf(action);
  const name = ruling.ruleName === undefined ? "" : ` "${ruling.ruleName}"`;
  const limits = (ruling.limits ?? []).map(
    ({ max, windowMs }) => `${max} in ${showDuration(windowMs)}`,
  );
  return [
    `${print.tone(TONES[ruling.effect], ruling.effect)} ${escapeText(`${action.meta.kind} ${server === "" ? tool : `${tool} on ${server}`}`)}`,
    `  rule   ${escapeText(`${ruling.ruleId}${name}`)} (${line === undefined ? file : `${file}:${line}`})`,
    `  why    ${escapeText(ruling.reason)}`,
    `  risk   ${risk} (${category})${level === risk ? "" : `, asked as ${level}`}`,
    ...(limits.length === 0 ? [] : [`  limit  ${limits.join(", ")}`]),
    ...(unasked === undefined
      ? askLines(explanation)
      : [`  but    denied, ${escapeText(unasked.reason)} [${unasked.code}]`]),
    ...(question === undefined
      ? []
      : [
          "",
          "A person would be asked:",
          "",
          ...question.text.split("\n").map((text) => `  ${text}`),
        ]),
  ];
}

function askLines({ evaluation: { ask }, question }: Explanation): readonly string[] {
  if (ask === undefined) return [];
  const people =
    question?.approvers === undefined
      ? "the person at the terminal"
      : question.approvers.map(escapeText).join(" or ");
  return [
    `  ask    ${people}${ask.quorum > 1 ? `, ${ask.quorum} of them` : ""}; denied after ${showDuration(ask.timeoutMs)}`,
  ];
}

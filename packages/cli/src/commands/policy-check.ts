/**
 * `acp policy check`: whether a policy loads, and what it holds.
 */
import type { Run } from "../command.js";
import { readPolicySource } from "../policy-source.js";

/** Runs the command. */
export const policyCheck: Run = async (invocation) => {
  const { print } = invocation;
  const { file, policy } = await readPolicySource(invocation);
  const { rules, warnings, defaultEffect } = policy;
  print.result({ ok: true, file, default: defaultEffect, rules, warnings }, () => [
    `${print.tone("green", "ok")} ${file}: ${rules.length} ${rules.length === 1 ? "rule" : "rules"}, everything else: ${defaultEffect}`,
    ...rules.map(
      ({ effect, line, ruleId, ruleName }) =>
        `  ${effect.padEnd(5)} ${ruleId}${line === undefined ? "" : ` (line ${line})`}${ruleName === undefined ? "" : `: ${ruleName}`}`,
    ),
    ...warnings.map((warning) => `${print.tone("yellow", "mind")} ${warning}`),
  ]);
  return "ok";
};

/**
 * `acp policy check`: whether policies load and a gate takes them, and what they hold.
 */
import { isConsentError, type Policy, ruleForSeveral } from "@acp/core";
import type { Invocation, Run } from "../command.js";
import { checkSeveral } from "../gate/config.js";
import { readPolicySource } from "../home/policy-source.js";
import { selectFiles } from "../select-files.js";

/** A policy by itself does not say who may answer; only the gate that takes it knows. */
function needsPeople(policy: Policy): readonly string[] {
  const rule = ruleForSeveral(policy);
  if (rule === undefined) return [];
  const { ruleId, quorum = 0, quorumAt } = rule;
  const where =
    quorumAt === undefined ? "" : ` at line ${quorumAt.line}, column ${quorumAt.column}`;
  return [
    `rule "${ruleId}" needs ${quorum} people${where}: a gate without named approvers refuses the policy`,
  ];
}

/** Runs the command. */
export const policyCheck: Run = async (invocation) => {
  const files = await selectFiles(invocation, "policies");
  if (files.length <= 1) {
    await check(files[0], invocation);
    return "ok";
  }
  let exit: "ok" | "invalid" = "ok";
  for (const file of files)
    try {
      await check(file, invocation);
    } catch (error) {
      if (!isConsentError(error)) throw error;
      // The others are checked too, so that one run names everything that has to be mended.
      invocation.print.failure(error);
      exit = "invalid";
    }
  return exit;
};

/** Checks one policy, or the home's, and prints what it holds. */
async function check(operand: string | undefined, invocation: Invocation): Promise<void> {
  const { print } = invocation;
  const { file, policy, source } = await readPolicySource(operand, invocation);
  if (source !== undefined) await checkSeveral(policy, { ...source, policyFile: file });
  const { rules, defaultEffect } = policy;
  const warnings = [...policy.warnings, ...(source === undefined ? needsPeople(policy) : [])];
  print.result({ ok: true, file, default: defaultEffect, rules, warnings }, () => [
    `${print.tone("green", "ok")} ${file}: ${rules.length} ${rules.length === 1 ? "rule" : "rules"}, everything else: ${defaultEffect}`,
    ...rules.map(
      ({ effect, line, ruleId, ruleName }) =>
        `  ${effect.padEnd(5)} ${ruleId}${line === undefined ? "" : ` (line ${line})`}${ruleName === undefined ? "" : `: ${ruleName}`}`,
    ),
    ...warnings.map((warning) => `${print.tone("yellow", "mind")} ${warning}`),
  ]);
}

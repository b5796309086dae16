/**
 * Policy document: a policy's text beside what it compiles to, so that a rule can be tried out in
 * its place among the others. Pure.
 */
import { isConsentError, isJsonList, isJsonObject } from "@acp/core";
import type { Action, Effect, Facts, JsonObject, Policy, Ruling } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import type { PolicyOptions } from "@acp/core/policy";
import { readPolicy, readYaml } from "@acp/core/yaml";

/** A policy as it is written. */
export interface PolicyDocument {
  readonly policy: Policy;
  readonly rules: readonly JsonObject[];
  readonly origins: PolicyOptions;
  /** Blanks before a rule's dash; 2 where that cannot be told. */
  readonly indent: number;
  /**
   * The policy with one more rule, before the rule of that number from 0, or at the end;
   * `undefined` where it does not load.
   */
  with(rule: JsonObject, before: number | undefined): Policy | undefined;
}

const INDENT = 2;

/**
 * Reads a policy for trying out.
 *
 * @throws ConsentError `policy_invalid`.
 */
export function readPolicyDocument(text: string, origins: PolicyOptions): PolicyDocument {
  const policy = readPolicy(text, origins);
  const { value, locate } = readYaml(text, { name: "policy", code: "policy_invalid" });
  const document = isJsonObject(value) ? value : {};
  const rules = rulesOf(document);
  // "- match: …" in block style: the item starts two columns after its dash.
  const column = rules.length === 0 ? undefined : locate(["rules", 0], "value")?.column;
  const line = text.split("\n")[(locate(["rules", 0], "value")?.line ?? 0) - 1] ?? "";
  const isBlock = column !== undefined && /^ *- +$/.test(line.slice(0, column - 1));
  return {
    policy,
    rules,
    origins,
    indent: isBlock ? line.indexOf("-") : INDENT,
    with(rule, before = rules.length) {
      try {
        const more = [...rules.slice(0, before), rule, ...rules.slice(before)];
        return parsePolicy({ ...document, rules: more }, origins);
      } catch (error) {
        if (isConsentError(error)) return undefined;
        throw error;
      }
    },
  };
}

function rulesOf({ rules }: JsonObject): readonly JsonObject[] {
  return rules !== undefined && isJsonList(rules) ? rules.filter(isJsonObject) : [];
}

/** What a policy says in the end: the first rule that matches, or the default. */
export interface Said {
  readonly effect: Effect;
  readonly ruling: Ruling | undefined;
}

/** What a policy says of an action. */
export function sayOf(policy: Policy, action: Action, facts: Facts): Said {
  const ruling = policy.judge(action, facts);
  return { effect: ruling?.effect ?? policy.defaultEffect, ruling };
}

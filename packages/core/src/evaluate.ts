/**
 * Evaluation: every layer's word about an Action, and what follows. Pure: deny > ask > allow across layers; a layer that throws denies.
 */
import type { Action } from "./action.js";
import type { Evaluation, LayerRuling } from "./consent-gate.js";
import type { Effect, Facts, Layer, RiskLevel, Ruling } from "./layers.js";
import { levelRank, mergeAsk } from "./merge-ask.js";
import type { Classification, Policy } from "./policy/policy.js";

/** What judges: read once per decision. */
export interface Judges {
  readonly policy: Policy | undefined;
  readonly layers: readonly Layer[];
  readonly observed: Policy | undefined;
  readonly askTimeoutMs: number;
}

const RANK: Readonly<Record<Effect, number>> = { allow: 0, ask: 1, deny: 2 };
const UNCLASSIFIED: Classification = { category: "write", risk: "medium" };

const isThenable = (value: unknown): boolean => typeof value === "object" && value !== null && "then" in value;

/** What a layer returned, where it is a Ruling; anything else is a broken layer, and a broken layer denies. */
function checkRuling(layer: string, ruling: Ruling | undefined): Ruling | undefined {
  if (ruling === undefined) return undefined;
  // A layer may be somebody's JavaScript: null, a promise or a misspelt effect must not read as "abstains".
  if (typeof ruling !== "object" || ruling === null || isThenable(ruling) || !Object.hasOwn(RANK, ruling.effect)) return layerFailed(layer, "it returned no ruling");
  return ruling;
}

function layerFailed(layer: string, why: string): Ruling {
  return { effect: "deny", ruleId: `${layer}:failed`, reason: `the layer "${layer}" could not judge: ${why}` };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function judgeSafely(name: string, judge: () => Ruling | undefined): { readonly ruling: Ruling | undefined; readonly failed: boolean } {
  try {
    const given = judge();
    const ruling = checkRuling(name, given);
    return { ruling, failed: ruling !== given };
  } catch (error) {
    return { ruling: layerFailed(name, messageOf(error)), failed: true };
  }
}

function defaultRuling(policy: Policy | undefined): Ruling {
  if (policy === undefined) return { effect: "deny", ruleId: "default", reason: "no policy is in force and no layer allows the action" };
  return { effect: policy.defaultEffect, ruleId: "default", reason: "no rule matches; the policy's default applies" };
}

function classify(policy: Policy | undefined, action: Action): Classification {
  try {
    return policy?.classify(action) ?? UNCLASSIFIED;
  } catch {
    return { category: "system", risk: "critical" };
  }
}

function observe(policy: Policy | undefined, action: Action, facts: Facts): Evaluation["observed"] {
  if (policy === undefined) return undefined;
  const { ruling } = judgeSafely("observed", () => policy.judge(action, facts));
  const { effect, ruleId } = ruling ?? defaultRuling(policy);
  return { effect, ruleId };
}

const highestLevel = (rulings: readonly LayerRuling[], risk: RiskLevel): RiskLevel => {
  let highest: RiskLevel | undefined;
  for (const { ruling } of rulings) {
    if (ruling?.level !== undefined && (highest === undefined || levelRank(ruling.level) > levelRank(highest))) highest = ruling.level;
  }
  return highest ?? risk;
};

/** Everything that the judges say about the action, and the winner. Never throws. */
export function evaluate(judges: Judges, action: Action, facts: Facts): Evaluation {
  const { policy, layers, observed } = judges;
  const rulings: LayerRuling[] = [];
  let winner: LayerRuling & { readonly ruling: Ruling } = { layer: "default", ruling: defaultRuling(policy) };
  let spoken = false;
  let layerHasFailed = false;
  const hear = (layer: string, judge: () => Ruling | undefined): void => {
    const { ruling, failed } = judgeSafely(layer, judge);
    rulings.push({ layer, ruling });
    layerHasFailed ||= failed;
    if (ruling === undefined || (spoken && RANK[ruling.effect] <= RANK[winner.ruling.effect])) return;
    winner = { layer, ruling };
    spoken = true;
  };
  if (policy !== undefined) hear("rules", () => policy.judge(action, facts));
  for (const layer of layers) hear(layer.name, () => layer.judge(action, facts));

  const { category, risk } = classify(policy, action);
  const level = highestLevel(rulings, risk);
  const watched = observe(observed, action, facts);
  const base = { ruling: winner.ruling, layer: winner.layer, rulings, category, risk, level, ...(watched === undefined ? {} : { observed: watched }) };
  if (layerHasFailed) return { ...base, failure: "layer_failed" };
  if (winner.ruling.effect !== "ask") return base;
  const ask = mergeAsk(rulings, judges.askTimeoutMs);
  if (ask !== undefined) return { ...base, ask };
  return { ...base, ruling: layerFailed(winner.layer, "the terms of its question are out of range"), failure: "layer_failed" };
}

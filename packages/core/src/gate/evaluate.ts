/**
 * Evaluation: every layer's word about an Action, and what follows. Pure: deny > ask > allow across
 * layers; a layer that throws denies.
 */
import { isShellAction } from "../action/action.js";
import { isServerStarted } from "../action/reserved.js";
import type { Action } from "../action/action.js";
import type { AnswerTimes } from "../approval/escalation.js";
import { scopeCovers } from "../approval/grants.js";
import { callScope } from "../approval/offers.js";
import type { Evaluation, LayerRuling } from "./consent-gate.js";
import { messageOf } from "./deny.js";
import type { Facts, Layer, Ruling } from "../layers.js";
import { levelRank, mergeAsk, type MergedAsk } from "./merge-ask.js";
import type { ArgumentCheck } from "../ports.js";
import { ARGUMENT_PROBLEM_CHARS_MAX } from "../limits.js";
import { cutText } from "@acp/exec-safety/text";
import type { Classification, Policy } from "../policy/policy.js";
import { readRuling } from "./read-ruling.js";
import { placeholdersOf } from "../vault/placeholders.js";
import type { GrantOffer, OfferTerms } from "../types/scope.js";
import type { Effect, RiskLevel } from "../types/words.js";

/** What judges: read once per decision. */
export interface Judges {
  readonly policy: Policy | undefined;
  readonly layers: readonly Layer[];
  readonly observed: Policy | undefined;
  /** Used where no ask names a timeout. */
  readonly askTimeoutMs: number;
  /** Approver ids of each group name. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  /** What an ask offers that says nothing about offers. */
  readonly defaultOffers: (action: Action) => readonly OfferTerms[];
  /** What the gate's channel says about who answers when. */
  readonly channelTimes?: AnswerTimes | undefined;
  readonly argumentCheck?: ArgumentCheck | undefined;
}

const RANK: Readonly<Record<Effect, number>> = { allow: 0, ask: 1, deny: 2 };
const UNCLASSIFIED: Classification = { category: "write", risk: "medium" };

function layerFailed(layer: string, why: string): Ruling {
  return {
    effect: "deny",
    ruleId: `${layer}:failed`,
    reason: `the layer "${layer}" could not judge: ${why}`,
  };
}

function defaultRuling(policy: Policy | undefined, action: Action): Ruling {
  if (policy === undefined)
    return {
      effect: "deny",
      ruleId: "default",
      reason: "no policy is in force and no layer allows the action",
    };
  if (isServerStarted(action))
    return {
      effect: "deny",
      ruleId: "default",
      reason: "no rule names this request, which the server started",
    };
  return {
    effect: policy.defaultEffect,
    ruleId: "default",
    reason: "no rule matches; the policy's default applies",
  };
}

function classify(policy: Policy | undefined, action: Action): Classification {
  try {
    return policy?.classify(action) ?? UNCLASSIFIED;
  } catch {
    return { category: "system", risk: "critical" };
  }
}

/**
 * The layer that reads commands knows more of their risk than a table does: risk and level of a
 * question must not contradict each other.
 */
const COMMANDS = "exec";

function classified(
  policy: Policy | undefined,
  action: Action,
  rulings: readonly LayerRuling[],
): Classification {
  const table = classify(policy, action);
  const read = isShellAction(action)
    ? rulings.find(({ layer }) => layer === COMMANDS)?.ruling?.level
    : undefined;
  return read === undefined ? table : { ...table, risk: read };
}

function observe(policy: Policy | undefined, action: Action, facts: Facts): Evaluation["observed"] {
  if (policy === undefined) return undefined;
  try {
    const { effect, ruleId } = policy.judge(action, facts) ?? defaultRuling(policy, action);
    return { effect, ruleId };
  } catch (error) {
    const { effect, ruleId } = layerFailed("observed", messageOf(error));
    return { effect, ruleId };
  }
}

const highestLevel = (rulings: readonly LayerRuling[], risk: RiskLevel): RiskLevel => {
  let highest: RiskLevel | undefined;
  for (const { ruling } of rulings) {
    if (
      ruling?.level !== undefined &&
      (highest === undefined || levelRank(ruling.level) > levelRank(highest))
    )
      highest = ruling.level;
  }
  return highest ?? risk;
};

/**
 * A server that asks for something writes the arguments itself: a placeholder in them would hand a
 * secret to the agent's side.
 */
const SECRET_OF_REQUEST: Ruling = Object.freeze({
  effect: "deny",
  ruleId: "requests:secret",
  reason: "a request that a server started takes no secrets",
});

function hearRequest(heard: Heard, action: Action): void {
  if (!isServerStarted(action)) return;
  const { names, hasStray } = placeholdersOf(action);
  if (names.length > 0 || hasStray)
    heard.rulings.push({ layer: "requests", ruling: SECRET_OF_REQUEST });
}

/** The name that the policy has among the layers. */
const RULES = "rules";
/** The name that the argument check has among the layers. */
const ARGUMENTS = "arguments";

/** The check's word as a Ruling. */
function checkArguments(
  { argumentCheck }: Judges,
  action: Action,
  { tool }: Facts,
): Ruling | undefined {
  const problem: unknown = argumentCheck?.check(action, tool);
  if (problem === undefined) return undefined;
  if (typeof problem !== "string") throw new Error("it returned neither a string nor undefined");
  return {
    effect: "deny",
    ruleId: "arguments:schema",
    reason: cutText(problem, ARGUMENT_PROBLEM_CHARS_MAX),
  };
}

/** The name that a tool's pin has among the layers. */
const DEFINITION = "definition";

const UNKNOWN = "definition:unknown";

/** A tool that is not presented as it was when it was pinned, or not at all, is denied, whatever allows it. */
function judgeDefinition({ tool }: Facts): Ruling | undefined {
  const [why] = tool?.notes ?? [];
  if (tool?.pinned === "unknown")
    return { effect: "deny", ruleId: UNKNOWN, reason: why ?? "its server did not present it" };
  if (tool?.pinned !== "changed") return undefined;
  const changed = "it is not presented as it was when it was pinned";
  return { effect: "deny", ruleId: "definition:pinned", reason: why ?? changed };
}

/** What every judge said, before it is combined. */
export interface Hearing {
  readonly judges: Judges;
  readonly action: Action;
  readonly rulings: readonly LayerRuling[];
  /** The no of the tool's pin, one of the rulings. */
  readonly definitionRuling: Ruling | undefined;
  /** The argument check's no, one of the rulings. */
  readonly argumentRuling: Ruling | undefined;
  readonly failed: boolean;
  readonly category: Evaluation["category"];
  readonly risk: RiskLevel;
  readonly observed: Evaluation["observed"];
}

/** What was said so far. */
interface Heard {
  readonly rulings: LayerRuling[];
  failed: boolean;
}

interface Judged {
  readonly action: Action;
  readonly facts: Facts;
}

/** No closure and no list that grows: all that most calls go through. */
function hearPolicy(policy: Policy, action: Action, facts: Facts): Heard {
  try {
    return { rulings: [{ layer: RULES, ruling: policy.judge(action, facts) }], failed: false };
  } catch (error) {
    return {
      rulings: [{ layer: RULES, ruling: layerFailed(RULES, messageOf(error)) }],
      failed: true,
    };
  }
}

/**
 * @param judge - Gives a ruling of ours: what somebody else's code returned is read by {@link
 * readRuling} first.
 */
function note(heard: Heard, layer: string, judge: () => Ruling | undefined): Ruling | undefined {
  let ruling: Ruling | undefined;
  try {
    ruling = judge();
  } catch (error) {
    ruling = layerFailed(layer, messageOf(error));
    heard.failed = true;
  }
  heard.rulings.push({ layer, ruling });
  return ruling;
}

function rulingBy(layer: Layer, action: Action, facts: Facts): Ruling | undefined {
  const ruling = readRuling(layer.judge(action, facts));
  if (ruling?.effect === "allow" && layer.onlyRestricts === true)
    throw new Error("it only restricts, and it allowed");
  return ruling;
}

function hearLayers(heard: Heard, layers: readonly Layer[], { action, facts }: Judged): void {
  // A layer that could change what the next one is told would judge for it.
  Object.freeze(facts);
  for (const layer of layers) note(heard, layer.name, () => rulingBy(layer, action, facts));
}

/**
 * The check's no. It is not asked where something denies already: a slow schema must not cost more
 * than a no.
 */
function hearArguments(
  heard: Heard,
  judges: Judges,
  { action, facts }: Judged,
): Ruling | undefined {
  if (heard.rulings.some(({ ruling }) => ruling?.effect === "deny")) return undefined;
  return note(heard, ARGUMENTS, () => checkArguments(judges, action, facts));
}

/** Hears every judge. Never throws. */
export function hear(judges: Judges, action: Action, facts: Facts): Hearing {
  const { policy, layers, observed, argumentCheck } = judges;
  // Made with what nearly every gate has: a list that grows takes room for more.
  const heard: Heard =
    policy === undefined ? { rulings: [], failed: false } : hearPolicy(policy, action, facts);
  hearRequest(heard, action);
  if (layers.length > 0) hearLayers(heard, layers, { action, facts });
  const definitionRuling = judgeDefinition(facts);
  if (definitionRuling !== undefined)
    heard.rulings.push({ layer: DEFINITION, ruling: definitionRuling });
  const argumentRuling =
    argumentCheck === undefined ? undefined : hearArguments(heard, judges, { action, facts });
  const { rulings, failed } = heard;
  const { category, risk } = classified(policy, action, rulings);
  return {
    judges,
    action,
    rulings,
    definitionRuling,
    argumentRuling,
    failed,
    category,
    risk,
    observed: observe(observed, action, facts),
  };
}

function winnerOf(
  rulings: readonly LayerRuling[],
): { readonly layer: string; readonly ruling: Ruling } | undefined {
  let winner: { readonly layer: string; readonly ruling: Ruling } | undefined;
  for (const { layer, ruling } of rulings) {
    if (
      ruling !== undefined &&
      (winner === undefined || RANK[ruling.effect] > RANK[winner.ruling.effect])
    )
      winner = { layer, ruling };
  }
  return winner;
}

/** The terms of the question; `undefined` where a part's terms are none. */
function askOf({ judges, action, rulings }: Hearing): MergedAsk | undefined {
  try {
    const offerFor = (offer: OfferTerms): GrantOffer | undefined => {
      const scope = offer.scope.kind === "call" ? callScope(action) : offer.scope;
      return scopeCovers(scope, action, judges.policy) ? { ...offer, scope } : undefined;
    };
    return mergeAsk(rulings, { ...judges, offers: judges.defaultOffers(action), offerFor });
  } catch {
    return undefined;
  }
}

/** What follows from a hearing. Pure. */
export function combine(hearing: Hearing): Evaluation {
  const { judges, action, rulings, failed, category, risk, observed } = hearing;
  const { layer, ruling } = winnerOf(rulings) ?? {
    layer: "default",
    ruling: defaultRuling(judges.policy, action),
  };
  const level = highestLevel(rulings, risk);
  // Written out: an object that spreads another one costs more than a rule.
  const base: Evaluation =
    observed === undefined
      ? { ruling, layer, rulings, category, risk, level }
      : { ruling, layer, rulings, category, risk, level, observed };
  if (failed) return { ...base, failure: "layer_failed" };
  if (ruling === hearing.definitionRuling) {
    const isUnknown = ruling.ruleId === UNKNOWN;
    return { ...base, failure: isUnknown ? "definition_unknown" : "definition_changed" };
  }
  if (ruling === hearing.argumentRuling) return { ...base, failure: "arguments_invalid" };
  if (ruling.effect !== "ask") return base;
  const ask = askOf(hearing);
  const placeholders = placeholdersOf(action).names;
  if (ask !== undefined)
    return { ...base, ask, ...(placeholders.length === 0 ? {} : { placeholders }) };
  return {
    ...base,
    ruling: layerFailed(layer, "the terms of its question are out of range"),
    failure: "layer_failed",
  };
}

/**
 * Merging the terms of several asks: always the stricter of two (architecture: shortest timeout,
 * highest level and quorum, intersections).
 */
import type { Evaluation, LayerRuling } from "./consent-gate.js";
import { type AnswerTimes, type EscalationStep, mergeTimes } from "../approval/escalation.js";
import { isScope } from "../approval/grants.js";
import { mergeOffers } from "../approval/offers.js";
import { personKey } from "../approval/person.js";
import type { AskTerms } from "../layers.js";
import { ASK_TIMEOUT_MS_MAX, GRANT_TTL_MS_MAX, QUORUM_MAX } from "../limits.js";
import type { GrantOffer, OfferTerms } from "../types/scope.js";
import { RISK_LEVELS, type RiskLevel } from "../types/words.js";

/** Position of a level, for comparing two. A word that is no level ranks above all. */
export function levelRank(level: RiskLevel): number {
  const rank = RISK_LEVELS.indexOf(level);
  return rank === -1 ? Number.POSITIVE_INFINITY : rank;
}

/** The terms of a question, complete. */
export type MergedAsk = NonNullable<Evaluation["ask"]>;

const inRange = (value: number | undefined, max: number): boolean =>
  value === undefined || (Number.isInteger(value) && value >= 1 && value <= max);

function isStepSound({ afterMs, approvers, channel }: EscalationStep): boolean {
  const isNamed = approvers === undefined || Array.isArray(approvers);
  return (
    afterMs !== undefined &&
    inRange(afterMs, ASK_TIMEOUT_MS_MAX) &&
    isNamed &&
    (channel === undefined || typeof channel === "string")
  );
}

function areTermsSound({
  timeoutMs,
  quorum,
  evidence,
  offers,
  approvers,
  escalate,
}: AskTerms): boolean {
  if (!inRange(timeoutMs, ASK_TIMEOUT_MS_MAX) || !inRange(quorum, QUORUM_MAX)) return false;
  if (evidence !== undefined && evidence !== "any" && evidence !== "passkey") return false;
  if (approvers !== undefined && !Array.isArray(approvers)) return false;
  if (escalate !== undefined && !escalate.every(isStepSound)) return false;
  return (offers ?? []).every(
    ({ scope, ttlMs, uses }) =>
      isScope(scope) &&
      ttlMs !== undefined &&
      inRange(ttlMs, GRANT_TTL_MS_MAX) &&
      inRange(uses, Number.MAX_SAFE_INTEGER),
  );
}

function mergeTerms(a: MergedAsk, b: AskTerms): MergedAsk {
  return {
    timeoutMs: Math.min(a.timeoutMs, b.timeoutMs ?? a.timeoutMs),
    quorum: Math.max(a.quorum, b.quorum ?? 1),
    evidence: a.evidence === "passkey" || b.evidence === "passkey" ? "passkey" : "any",
    offers: a.offers,
  };
}

const completeTerms = (
  terms: AskTerms,
  { timeoutMs, offers }: Pick<MergedAsk, "timeoutMs" | "offers">,
): MergedAsk => ({
  timeoutMs,
  quorum: terms.quorum ?? 1,
  evidence: terms.evidence ?? "any",
  offers,
});

/** What merging needs to know besides the rulings. */
export interface MergeDefaults {
  /** Used where no ask names a timeout of its own. */
  readonly askTimeoutMs: number;
  /** Approver ids of each group name. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  /** What an ask offers that says nothing about offers; also the policy's default. */
  readonly offers: readonly OfferTerms[];
  /**
   * The offer for the action at hand; `undefined` where it does not cover it, and so is no part of
   * its question.
   */
  readonly offerFor: (offer: OfferTerms) => GrantOffer | undefined;
  /** What the gate's channel says about who answers when; left out where it says nothing. */
  readonly channelTimes?: AnswerTimes | undefined;
}

/**
 * Group names become their members before anything is intersected; an unknown name stands for
 * itself.
 */
function expandGroups(
  { approvers, escalate }: AnswerTimes,
  groups: MergeDefaults["groups"],
): AnswerTimes {
  const members = new Map(
    Object.entries(groups).map(([name, people]) => [personKey(name), people]),
  );
  const expand = (names: readonly string[]): readonly string[] =>
    names.flatMap((name) => members.get(personKey(name)) ?? [name]);
  return {
    approvers: approvers === undefined ? undefined : expand(approvers),
    escalate: escalate?.map((step) =>
      step.approvers === undefined ? step : { ...step, approvers: expand(step.approvers) },
    ),
  };
}

/**
 * The terms of all asks among the rulings, as one.
 *
 * @returns `undefined` where an ask's terms are out of range: the layer that made them is broken.
 */
export function mergeAsk(
  rulings: readonly LayerRuling[],
  { askTimeoutMs, groups, offers: usual, offerFor, channelTimes }: MergeDefaults,
): MergedAsk | undefined {
  const terms = rulings.flatMap(({ ruling }) =>
    ruling?.effect === "ask" ? [ruling.ask ?? {}] : [],
  );
  if (![...terms, { offers: usual }].every(areTermsSound)) return undefined;
  const named = terms.flatMap(({ timeoutMs }) => (timeoutMs === undefined ? [] : [timeoutMs]));
  const timeoutMs = named.length === 0 ? askTimeoutMs : Math.min(...named);
  const [first, ...rest] = terms;
  const lists = first === undefined ? [usual] : terms.map((each) => each.offers ?? usual);
  const offers = mergeOffers(lists.map((list) => list.flatMap((offer) => offerFor(offer) ?? [])));
  const times = mergeTimes(
    [...terms, ...(channelTimes === undefined ? [] : [channelTimes])].map((each) =>
      expandGroups(each, groups),
    ),
  );
  return {
    ...rest.reduce<MergedAsk>(mergeTerms, completeTerms(first ?? {}, { timeoutMs, offers })),
    ...times,
  };
}

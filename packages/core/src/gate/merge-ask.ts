/**
 * Merging the terms of several asks: always the stricter of two (architecture: shortest timeout, highest level and quorum, intersections).
 */
import type { Evaluation, LayerRuling } from "./consent-gate.js";
import { type GrantOffer, type GrantScope, isScope } from "../approval/grants.js";
import { mergeOffers } from "../approval/offers.js";
import type { AskTerms, RiskLevel } from "../layers.js";
import { ASK_TIMEOUT_MS_MAX, GRANT_TTL_MS_MAX, QUORUM_MAX } from "../limits.js";

const LEVEL_RANK: Readonly<Record<RiskLevel, number>> = { low: 0, medium: 1, high: 2, critical: 3 };

/** Position of a level, for comparing two. A word that is no level ranks above all. */
export function levelRank(level: RiskLevel): number {
  return Object.hasOwn(LEVEL_RANK, level) ? LEVEL_RANK[level] : Number.POSITIVE_INFINITY;
}

/** The terms of a question, complete. */
export type MergedAsk = NonNullable<Evaluation["ask"]>;

const inRange = (value: number | undefined, max: number): boolean =>
  value === undefined || (Number.isInteger(value) && value >= 1 && value <= max);

function areTermsSound({ timeoutMs, quorum, evidence, offers, approvers }: AskTerms): boolean {
  if (!inRange(timeoutMs, ASK_TIMEOUT_MS_MAX) || !inRange(quorum, QUORUM_MAX)) return false;
  if (evidence !== undefined && evidence !== "any" && evidence !== "passkey") return false;
  if (approvers !== undefined && !Array.isArray(approvers)) return false;
  return (offers ?? []).every(
    ({ scope, ttlMs, uses }) =>
      isScope(scope) && ttlMs !== undefined && inRange(ttlMs, GRANT_TTL_MS_MAX) && inRange(uses, Number.MAX_SAFE_INTEGER),
  );
}

const intersect = (a: readonly string[] | undefined, b: readonly string[] | undefined): readonly string[] | undefined =>
  a === undefined || b === undefined ? (a ?? b) : a.filter((id) => b.includes(id));

function mergeTerms(a: MergedAsk, b: AskTerms): MergedAsk {
  const approvers = intersect(a.approvers, b.approvers);
  return {
    timeoutMs: Math.min(a.timeoutMs, b.timeoutMs ?? a.timeoutMs),
    quorum: Math.max(a.quorum, b.quorum ?? 1),
    evidence: a.evidence === "passkey" || b.evidence === "passkey" ? "passkey" : "any",
    offers: a.offers,
    ...(approvers === undefined ? {} : { approvers }),
  };
}

const completeTerms = (terms: AskTerms, { timeoutMs, offers }: Pick<MergedAsk, "timeoutMs" | "offers">): MergedAsk => ({
  timeoutMs,
  quorum: terms.quorum ?? 1,
  evidence: terms.evidence ?? "any",
  offers,
  ...(terms.approvers === undefined ? {} : { approvers: terms.approvers }),
});

/** What merging needs to know besides the rulings. */
export interface MergeDefaults {
  /** Used where no ask names a timeout of its own. */
  readonly askTimeoutMs: number;
  /** Approver ids of each group name. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  /** What an ask offers that says nothing about offers; also the policy's default. */
  readonly offers: readonly GrantOffer[];
  /** Whether a scope covers the action at hand: what does not is no part of its question. */
  readonly covers: (scope: GrantScope) => boolean;
}

/** Group names become their members before anything is intersected; an unknown name stands for itself. */
function expandGroups(terms: AskTerms, groups: MergeDefaults["groups"]): AskTerms {
  if (terms.approvers === undefined) return terms;
  return { ...terms, approvers: terms.approvers.flatMap((name) => (Object.hasOwn(groups, name) ? (groups[name] ?? []) : [name])) };
}

/**
 * The terms of all asks among the rulings, as one.
 *
 * @returns `undefined` where an ask's terms are out of range: the layer that made them is broken.
 */
export function mergeAsk(
  rulings: readonly LayerRuling[],
  { askTimeoutMs, groups, offers: usual, covers }: MergeDefaults,
): MergedAsk | undefined {
  const terms = rulings.flatMap(({ ruling }) => (ruling?.effect === "ask" ? [ruling.ask ?? {}] : []));
  if (!terms.every(areTermsSound)) return undefined;
  const named = terms.flatMap(({ timeoutMs }) => (timeoutMs === undefined ? [] : [timeoutMs]));
  const timeoutMs = named.length === 0 ? askTimeoutMs : Math.min(...named);
  const [first, ...rest] = terms.map((each) => expandGroups(each, groups));
  const lists = first === undefined ? [usual] : terms.map((each) => each.offers ?? usual);
  const offers = mergeOffers(lists.map((list) => list.filter(({ scope }) => covers(scope))));
  return rest.reduce<MergedAsk>(mergeTerms, completeTerms(first ?? {}, { timeoutMs, offers }));
}

/**
 * Reserving what rulings limit: once for a call, and for an edit only what goes beyond what its
 * question took already.
 */
import type { PendingRecord } from "../approval/pending-record.js";
import type { KeptParts } from "./gate-parts.js";
import type { LimitClaim } from "../types/limit-claim.js";
import type { Denied } from "../verdict.js";
import type { Evaluation } from "./consent-gate.js";
import { deny } from "./deny.js";

/** What was taken of one allowance. */
export type Reserved = NonNullable<PendingRecord["reserved"]>[number];

const claimsOf = ({ rulings }: Evaluation): readonly LimitClaim[] =>
  rulings.flatMap(({ ruling }) => ruling?.limits ?? []);

/** Whether any ruling limits anything: where none does, nobody waits for nothing. */
export const isLimited = ({ rulings }: Evaluation): boolean =>
  rulings.some(({ ruling }) => ruling?.limits !== undefined);

/** What an evaluated call takes, as its question keeps it. */
export function reservedBy(
  evaluation: Evaluation,
  before: readonly Reserved[] = [],
): { readonly reserved?: readonly Reserved[] } {
  const taken = new Map(before.map(({ key, amount }) => [key, amount]));
  const own = new Map<string, number>();
  for (const { key, amount } of claimsOf(evaluation)) own.set(key, (own.get(key) ?? 0) + amount);
  for (const [key, amount] of own) taken.set(key, Math.max(taken.get(key) ?? 0, amount));
  return taken.size === 0 ? {} : { reserved: [...taken].map(([key, amount]) => ({ key, amount })) };
}

/** The claims less what was taken before. */
function beyond(claims: readonly LimitClaim[], before: readonly Reserved[]): readonly LimitClaim[] {
  const left = new Map(before.map(({ key, amount }) => [key, amount]));
  return claims.flatMap((claim) => {
    const had = left.get(claim.key) ?? 0;
    left.set(claim.key, Math.max(0, had - claim.amount));
    return claim.amount > had ? [{ ...claim, amount: claim.amount - had }] : [];
  });
}

/**
 * Takes what the rulings limit, all or nothing. What is forwarded or asked counts, whatever comes
 * of it.
 *
 * @param before - What the same call took already.
 */
export async function reserve(
  { store, within }: Pick<KeptParts, "store" | "within">,
  evaluation: Evaluation,
  before: readonly Reserved[] = [],
): Promise<Denied | undefined> {
  const claims = beyond(claimsOf(evaluation), before);
  if (claims.length === 0) return undefined;
  const result = await within(store.limits.reserve(claims), "the store");
  const { ruleId } = evaluation.ruling;
  if (!result.ok) {
    const { retryAfterMs } = result;
    return deny("rate_limited", `the rate limit of rule "${ruleId}" is used up`, {
      ruleId,
      retryAfterMs,
    });
  }
  await within(store.limits.settle(result.id, true), "the store");
  return undefined;
}

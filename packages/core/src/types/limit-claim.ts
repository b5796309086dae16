/** Limit claim: a use of a countable allowance. Types only. */

/** A use of a countable allowance: at most `max` within any `windowMs`. */
export interface LimitClaim {
  readonly key: string;
  readonly amount: number;
  readonly max: number;
  readonly windowMs: number;
}

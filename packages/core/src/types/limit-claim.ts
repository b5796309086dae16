/** Limit claim: a use of a countable allowance. Types only. */

/** A use of a countable allowance: at most `max` within any `windowMs`. */
export interface LimitClaim {
  /** Names the allowance: claims of one key share it. */
  readonly key: string;
  /** How much this use takes. */
  readonly amount: number;
  /** How much may be used within the window. */
  readonly max: number;
  /** Length of the sliding window in milliseconds. */
  readonly windowMs: number;
}

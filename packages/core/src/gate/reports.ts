/**
 * Reports: what a host says of a permit's use, and what a gate says of the questions it ended.
 * Types only.
 */

/** How the performance of an action ended. */
export type Outcome =
  | { readonly status: "performed" }
  /**
   * `error` is its kind, e.g. an error's name or a tool's code: never its text, which may hold what
   * the action returned.
   */
  | {
      readonly status: "failed";
      /** Kind of the error, e.g. its name or code; never its text. */
      readonly error?: string;
    }
  /** Nothing happened. */
  | {
      readonly status: "not_performed";
      /** Kind of the error, e.g. its name or code; never its text. */
      readonly error?: string;
    }
  /** A stream that its reader left before its end. */
  | { readonly status: "cancelled" };

/** What a host may report: that it is about to perform, and how that ended. */
export type ReportedOutcome = { readonly status: "forwarded" } | Outcome;

/** What became of the open questions of paused agents. */
export interface PausedEnd {
  /** How many questions this call ended, each with a denial. */
  readonly ended: number;
  /** How many are still open because the store failed; approving them starts nothing. */
  readonly left: number;
}

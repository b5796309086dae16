/**
 * Allowlist: the simple commands that an operator approved beforehand, as the engine sees them.
 * Types only; who loads one also compiles it.
 */

/** One entry of an allowlist, as it is written. */
export interface AllowlistEntry {
  /**
   * Words separated by spaces, the program first: `git push origin *`. Format: spec/exec-config.md
   * §3.
   */
  readonly pattern: string;
  /** Commands that the pattern matches; checked when it is loaded. */
  readonly match?: readonly string[];
  /** Commands that it does not match; checked when it is loaded. */
  readonly notMatch?: readonly string[];
}

/** A compiled allowlist. `parseAllowlist` of `@acp/core/exec` makes one of patterns. */
export interface Allowlist {
  /** The entries that it was made from, in order. */
  readonly entries: readonly AllowlistEntry[];
  /**
   * The first pattern that matches a simple command, given as its program and its decoded
   * arguments; `undefined` where none does.
   */
  readonly find: (argv: readonly string[]) => string | undefined;
}

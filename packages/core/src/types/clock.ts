/** Clock and ids: what a gate is given in place of the machine's own. Types only. */

/** Options of {@link Clock.sleep}. */
export interface SleepOptions {
  /** Ends the sleep early, with the signal's reason. */
  readonly signal: AbortSignal;
  /** True if the process may end meanwhile; false unless given. */
  readonly background?: boolean;
}

/** Time as a gate reads it: the machine's, or a test's. */
export interface Clock {
  /** Wall clock, milliseconds since 1970-01-01T00:00:00Z; may jump. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes back. */
  monotonic(): number;
  /**
   * Names the current boot of the machine: the same text in every process of one boot, another text
   * after a restart of the machine. A clock that cannot tell gives each process a text of its own,
   * so that another process counts as another boot. Never empty.
   */
  bootId(): string;
  /**
   * Milliseconds since that boot, the same in every process; never goes back, and counts suspended
   * time where the system can tell.
   */
  uptimeMs(): number;
  /**
   * Resolves after `ms` of monotonic time; rejects with the signal's reason when aborted. A sleep
   * in the `background` keeps no process alive.
   */
  sleep(ms: number, options: SleepOptions): Promise<void>;
}

/** Prefixes of ids: `cr` consent request, `n` nonce, `ae` audit event, `gr` grant. */
export type IdPrefix = "cr" | "n" | "ae" | "gr";

/** Source of ids: random ones, or a test's. */
export interface Ids {
  /** A new id: `<prefix>_<uuid>`, with at least 122 random bits. */
  next(prefix: IdPrefix): string;
}

/** Clock and ids: what a gate is given in place of the machine's own. Types only. */

/** Options of {@link Clock.sleep}. */
export interface SleepOptions {
  /** Ends the sleep early, with the signal's reason. */
  readonly signal: AbortSignal;
  /** Whether the process may end meanwhile; false unless given. */
  readonly background?: boolean;
}

/** Time, injected. */
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

/** Prefixes of ids: consent request, nonce, audit event, grant. */
export type IdPrefix = "cr" | "n" | "ae" | "gr";

/** Ids and randomness, injected. */
export interface Ids {
  /** `<prefix>_<uuid>`, at least 122 random bits. */
  next(prefix: IdPrefix): string;
}

/** Permit and Release: the right to perform an action, and what it opens. Types only. */
import type { Action } from "../action/action.js";

declare const permitBrand: unique symbol;

/**
 * The right to perform one action once: an opaque key that only a gate makes. A copy opens nothing.
 */
export interface Permit {
  readonly [permitBrand]: true;
}

/** Replaces known secret values in a byte stream by `[secret NAME]`. */
export interface Masker {
  /**
   * Takes the next bytes of the stream. Returns those that can be passed on, masked; the rest is
   * held back because a secret's value may begin in it.
   */
  push(chunk: Uint8Array): Uint8Array;
  /**
   * Call it after a silence. Returns what was held back only because a value may continue after a
   * line break; what may be the beginning of a value otherwise stays held back. If such a value
   * continues, the rest of it is masked.
   */
  settle(): Uint8Array;
  /** Ends the stream. Returns what was held back, masked. */
  end(): Uint8Array;
}

/** What a redeemed permit gives: the frozen action to perform, now, once. */
export interface Release {
  /** The action to perform: this one and no other. */
  readonly action: Action;
  /** Names of the secrets that may be injected; after injection, those that were. */
  readonly secrets: readonly string[];
  /**
   * Aborts when the caller goes away, when the performer's signal does, or when the gate closes;
   * never because the permit expired.
   */
  readonly signal: AbortSignal;
  /**
   * A copy of a result in which known secret values are replaced; before injection, the result
   * itself.
   */
  mask<T>(value: T): T;
  /** A masker for a result that is a stream; `undefined` where no secret is known. */
  masker(): Masker | undefined;
}

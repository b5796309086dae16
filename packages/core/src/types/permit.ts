/** Permit and Release: the right to perform an action, and what it opens. Types only. */
import type { Action } from "../action/action.js";

declare const permitBrand: unique symbol;

/** Opaque key; only a gate makes one. A copy of it opens nothing. */
export interface Permit {
  readonly [permitBrand]: true;
}

/** Replaces known secret values in a byte stream. */
export interface Masker {
  /**
   * Masks the next bytes of the stream. Returns what can be passed on; the rest may begin a
   * value.
   */
  push(chunk: Uint8Array): Uint8Array;
  /**
   * After a silence: what was held back because a value wrapped into lines might go on in it,
   * masked as it stands. What else may be the beginning of a value stays held back, also over the
   * line breaks that a value itself has. If the wrapped value does go on, the rest of it is masked.
   */
  settle(): Uint8Array;
  /** The stream is over: what was held back, masked. */
  end(): Uint8Array;
}

/** What a redeemed Permit gives: the frozen action to perform, now, once. */
export interface Release {
  /** What to perform: this and nothing else. */
  readonly action: Action;
  /** Names of the secrets that may be injected; after injection, of those that were. */
  readonly secrets: readonly string[];
  /** Aborts with the caller or on shutdown; never because the permit expired. */
  readonly signal: AbortSignal;
  /** A result with known secret values replaced. */
  mask<T>(value: T): T;
  /** For a stream; `undefined` where no secret is known. */
  masker(): Masker | undefined;
}

/**
 * Permit: the in-process right to perform one Action once. Opaque, expires, bound to the action's digest.
 */
import type { Action } from "./action.js";

declare const permitBrand: unique symbol;

/** Opaque key; only a gate makes one. A copy of it opens nothing. */
export interface Permit {
  readonly [permitBrand]: true;
}

/** Replaces known secret values in a byte stream. */
export interface Masker {
  push(chunk: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

/** What a redeemed Permit gives: the frozen action to perform, now, once. */
export interface Release {
  readonly action: Action;
  /** Names of the secrets that may be injected. */
  readonly secrets: readonly string[];
  /** Aborts with the caller or on shutdown; never because the permit expired. */
  readonly signal: AbortSignal;
  /** Replaces known secret values in a result. */
  mask<T>(value: T): T;
  /** `undefined` where nothing was injected. */
  masker(): Masker | undefined;
}

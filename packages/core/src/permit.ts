/**
 * Permit: the in-process right to perform one Action once. Opaque, expires, bound to the action's digest.
 * What a permit opens lives in a private field of this module: a copy, a cast or a made-up object opens nothing.
 */
import type { Action } from "./action/action.js";
import { actionDigest } from "./action/digest.js";
import { ConsentError } from "./errors.js";
import { PERMIT_TTL_MS } from "./limits.js";
import { Itself } from "./itself.js";
import type { Clock } from "./ports.js";
import type { EventMaker } from "./gate/record.js";

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
  /** Names of the secrets that may be injected; after injection, of those that were. */
  readonly secrets: readonly string[];
  /** Aborts with the caller or on shutdown; never because the permit expired. */
  readonly signal: AbortSignal;
  /** A result with known secret values replaced. */
  mask<T>(value: T): T;
  /** For a stream; `undefined` where no secret is known. */
  masker(): Masker | undefined;
}

/** What a permit is bound to. */
export interface PermitTerms {
  readonly action: Action;
  readonly secrets: readonly string[];
  readonly clock: Clock;
  /** Aborts when the caller goes away. */
  readonly callerSignal: AbortSignal | undefined;
  /** Aborts when the gate closes. */
  readonly shutdownSignal: AbortSignal;
  /** Makes the events of the decision that the permit came from. */
  readonly event: EventMaker;
  /** Why the layers in force now deny the action, or `undefined`. */
  readonly denialNow: () => string | undefined;
  /** Where an earlier consent stands behind it: the permit does not outlive it. */
  readonly lease?: LeaseTerms;
}

/** The earlier consent behind a permit: until when it holds, and how to find out that it no longer does. */
export interface LeaseTerms {
  readonly expiresAtMs: number;
  /** Whether this process revoked it. */
  readonly isRevoked: () => boolean;
  /** Why it no longer holds, asked of the store; `undefined` while it does. */
  readonly whyOver: () => Promise<string | undefined>;
}

interface PermitState extends PermitTerms {
  readonly digest: string;
  readonly expiresAtMonotonicMs: number;
  readonly expiresAtMs: number;
  spent: boolean;
}

/**
 * What a permit is inside: an object whose private field no other code can read, copy or make.
 * A WeakMap keyed by permits would do the same and cost a gate under load a fifth of its time in the garbage collector.
 */
class PermitKey {
  readonly #state: PermitState;

  constructor(state: PermitState) {
    this.#state = state;
    Object.freeze(this);
  }

  static stateOf(permit: object): PermitState | undefined {
    return #state in permit ? permit.#state : undefined;
  }
}

/** Whether a release that redeeming gave was taken by a vault; on the release itself, as an action's mark is. */
class ReleaseMark extends Itself {
  #taken = false;

  static take(release: object): boolean {
    if (!(#taken in release) || release.#taken) return false;
    release.#taken = true;
    return true;
  }
}

/** Makes a permit. For the gate alone: not part of the public surface. */
export function issuePermit(terms: PermitTerms): Permit {
  const { action, clock, lease } = terms;
  const nowMs = clock.now();
  const ttlMs = Math.min(PERMIT_TTL_MS, (lease?.expiresAtMs ?? Number.POSITIVE_INFINITY) - nowMs);
  const key: object = new PermitKey({
    ...terms,
    digest: actionDigest(action),
    expiresAtMonotonicMs: clock.monotonic() + ttlMs,
    expiresAtMs: nowMs + ttlMs,
    spent: false,
  });
  // The one cast that makes the brand: no code outside this module can write it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return key as Permit;
}

/** Both clocks must agree that there is time left, so that no jump of one revives a permit. A reading that is no number is no time left. */
function hasTimeLeft({ clock, expiresAtMonotonicMs, expiresAtMs }: PermitState): boolean {
  return clock.monotonic() < expiresAtMonotonicMs && clock.now() < expiresAtMs;
}

function anySignal(signals: readonly (AbortSignal | undefined)[], shutdown: AbortSignal): AbortSignal {
  const given = signals.filter((signal) => signal !== undefined);
  return given.length === 0 ? shutdown : AbortSignal.any([...given, shutdown]);
}

function makeRelease({ action, secrets, callerSignal, shutdownSignal }: PermitState, performerSignal: AbortSignal | undefined): Release {
  let signal: AbortSignal | undefined;
  const release: Release = Object.freeze({
    action,
    secrets,
    // Made on first use: most performers never look at it, and joining signals costs more than deciding.
    get signal(): AbortSignal {
      return (signal ??= anySignal([callerSignal, performerSignal], shutdownSignal));
    },
    mask: <T>(value: T): T => value,
    masker: () => undefined,
  });
  void new ReleaseMark(release);
  return release;
}

/** True once for each release that redeeming gave: secrets enter no other one, and each only once. */
export function takeRelease(release: Release): boolean {
  return ReleaseMark.take(release);
}

/** What each injected release was made of. */
const sources = new WeakMap<Release, Release>();

/** Notes what an injected release was made of. For `injectSecrets` alone: whoever could call it could have a gate perform anything. */
export function markInjection(injected: Release, release: Release): void {
  sources.set(injected, release);
}

/** Whether `injectSecrets` made the one release of the other. */
export function isInjectedFrom(injected: Release, release: Release): boolean {
  return sources.get(injected) === release;
}

/** Whether the caller, the performer or the gate has gone. Looks at each signal: joining them costs more than deciding. */
export function isAbandoned(permit: Permit, performerSignal: AbortSignal | undefined): boolean {
  const { callerSignal, shutdownSignal } = stateOf(permit);
  return [callerSignal, performerSignal, shutdownSignal].some((signal) => signal?.aborted === true);
}

/** Why what stands behind a permit no longer holds, or `undefined`. Asks a store, so that it is asked before the permit is spent. */
export async function whyLeaseOver(permit: Permit): Promise<string | undefined> {
  return stateOf(permit).lease?.whyOver();
}

/** The event maker of an issued permit, spent or not. */
export function eventsOf(permit: Permit): EventMaker {
  return stateOf(permit).event;
}

function stateOf(permit: Permit): PermitState {
  // A permit may come from JavaScript, where it can be anything.
  const state = typeof permit === "object" && permit !== null ? PermitKey.stateOf(permit) : undefined;
  if (state === undefined) throw new ConsentError("permit_unknown", "Cannot redeem the permit: no gate of this process issued it");
  return state;
}

/**
 * Spends a permit. Synchronous, so that two calls can never both win.
 *
 * @param action - The verdict's own action; another one spends nothing.
 * @throws ConsentError `permit_unknown`, `permit_other_action`, `permit_spent`, `permit_expired`, or `permit_denied` where the layers deny it by now.
 */
export function redeem(permit: Permit, action: Action): Release {
  return redeemFor(permit, action, undefined);
}

/** Like {@link redeem}, for a performer with a signal of its own. */
export function redeemFor(permit: Permit, action: Action, signal: AbortSignal | undefined): Release {
  const state = stateOf(permit);
  if (actionDigest(action) !== state.digest)
    throw new ConsentError("permit_other_action", "Cannot redeem the permit: it was issued for another action");
  if (state.spent) throw new ConsentError("permit_spent", "Cannot redeem the permit: it was redeemed before");
  state.spent = true;
  if (!hasTimeLeft(state)) throw new ConsentError("permit_expired", "Cannot redeem the permit: its time is over");
  const denial = state.lease?.isRevoked() === true ? "the earlier consent that allowed it was revoked" : state.denialNow();
  if (denial !== undefined) throw new ConsentError("permit_denied", `Cannot redeem the permit: ${denial}`);
  return makeRelease(state, signal);
}

/**
 * Permit: the in-process right to perform one Action once. Opaque, expires, bound to the action's digest.
 * What a permit opens lives in a private field of this module: a copy, a cast or a made-up object opens nothing.
 */
import type { Action } from "./action/action.js";
import { actionDigest } from "./action/digest.js";
import { ConsentError } from "./errors.js";
import { PERMIT_TTL_MS } from "./limits.js";
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

interface PermitState extends Omit<PermitTerms, "lease"> {
  readonly lease: LeaseTerms | undefined;
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

/**
 * What redeeming gives. Whether a vault took it is in a private field, as a permit's state is. A class, for an accessor in an object literal makes V8
 * keep each such object as a dictionary of half a kilobyte, for as long as what was released lasts.
 */
class Redeemed implements Release {
  readonly action: Action;
  readonly secrets: readonly string[];
  readonly mask: Release["mask"] = unchanged;
  readonly masker: Release["masker"] = nothing;
  readonly #state: PermitState;
  readonly #performerSignal: AbortSignal | undefined;
  #signal: AbortSignal | undefined;
  #taken = false;

  constructor(state: PermitState, performerSignal: AbortSignal | undefined) {
    this.action = state.action;
    this.secrets = state.secrets;
    this.#state = state;
    this.#performerSignal = performerSignal;
    Object.freeze(this);
  }

  /** Made on first use: most performers never look at it, and joining signals costs more than deciding. */
  get signal(): AbortSignal {
    return (this.#signal ??= anySignal(this.#state, this.#performerSignal));
  }

  static take(release: object): boolean {
    if (!(#taken in release) || release.#taken) return false;
    release.#taken = true;
    return true;
  }
}

const unchanged = <T>(value: T): T => value;
const nothing = (): undefined => undefined;

/** Makes a permit. For the gate alone: not part of the public surface. */
export function issuePermit({ action, secrets, clock, callerSignal, shutdownSignal, event, denialNow, lease }: PermitTerms): Permit {
  const nowMs = clock.now();
  const ttlMs = Math.min(PERMIT_TTL_MS, (lease?.expiresAtMs ?? Number.POSITIVE_INFINITY) - nowMs);
  // Written out: V8 gives each object that spreads another one a hidden class of its own, and it lives as long as what is performed.
  const key: object = new PermitKey({
    action,
    secrets,
    clock,
    callerSignal,
    shutdownSignal,
    event,
    denialNow,
    lease,
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

function anySignal({ callerSignal, shutdownSignal }: PermitState, performerSignal: AbortSignal | undefined): AbortSignal {
  const given = [callerSignal, performerSignal].filter((signal) => signal !== undefined);
  return given.length === 0 ? shutdownSignal : AbortSignal.any([...given, shutdownSignal]);
}

/** True once for each release that redeeming gave: secrets enter no other one, and each only once. */
export function takeRelease(release: Release): boolean {
  return Redeemed.take(release);
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
  return new Redeemed(state, signal);
}

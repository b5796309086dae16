/**
 * Permit: the in-process right to perform one Action once. Opaque, expires, bound to the action's
 * digest and to the gate that issued it. What a permit opens lives in a private field of this
 * module: a copy, a cast or a made-up object opens nothing, and no object that is handed out leads
 * to what makes one (docs/adr/0090-rights-are-known-not-shaped.md).
 */
import type { Action } from "./action/action.js";
import { actionDigest } from "./action/digest.js";
import { ConsentError } from "./errors.js";
import { PERMIT_TTL_MS } from "./limits.js";
import { isFromAnotherCopy, OTHER_COPY } from "./copies.js";
import type { AuditEventInput, EventMaker } from "./types/audit-event.js";
import type { Clock } from "./types/clock.js";
import type { Permit, Release } from "./types/permit.js";
import { hideMaker } from "./hide-maker.js";
import { isAborted } from "./signals.js";
import type { Allowed } from "./verdict.js";

/** What a permit is bound to. */
export interface PermitTerms {
  /** Which gate issues it, by identity: no other one performs it. */
  readonly gate: object;
  readonly action: Action;
  readonly secrets: readonly string[];
  readonly clock: Clock;
  /** Aborts when the caller goes away. */
  readonly callerSignal: AbortSignal | undefined;
  /** Aborts when the gate closes. */
  readonly shutdownSignal: AbortSignal;
  /** Makes the events of the decision that the permit came from. */
  readonly event: EventMaker;
  /**
   * Events of that decision that are not in the log yet: they are written with the first that its
   * performance writes, before anything is released. Absent where they are.
   */
  readonly unwritten?: readonly AuditEventInput[] | undefined;
  /** Why the layers in force now deny the action, or `undefined`. */
  readonly denialNow: () => string | undefined;
  /** Whether the gate has another record key by now: its home's keys were rotated. */
  readonly isKeyGone: () => boolean;
  /** Where an earlier consent stands behind it: the permit does not outlive it. */
  readonly lease?: LeaseTerms | undefined;
}

/**
 * The earlier consent behind a permit: until when it holds, and how to find out that it no longer
 * does.
 */
export interface LeaseTerms {
  /** Milliseconds for which it still holds, by each clock that ends it. */
  readonly leftMs: number;
  /** Whether this process revoked it. */
  readonly isRevoked: () => boolean;
  /** Why it no longer holds, asked of the store; `undefined` while it does. */
  readonly whyOver: () => Promise<string | undefined>;
}

/**
 * How much of a permit's use the log knows: nothing, that the action was handed over, or how it
 * ended.
 */
export type Told = "nothing" | "forwarded" | "ended";

interface PermitState extends PermitTerms {
  readonly digest: string;
  readonly expiresAtMonotonicMs: number;
  readonly expiresAtMs: number;
  spent: boolean;
  /** It was spent, and nothing spoke against it. */
  released: boolean;
  told: Told;
  /**
   * The verdict that it was handed out with: who approved what, whatever a copy of that verdict
   * says.
   */
  verdict: Allowed | undefined;
}

/**
 * What a permit is inside: an object whose private field no other code can read, copy or make. A
 * WeakMap keyed by permits would do the same and cost a gate under load a fifth of its time in the
 * garbage collector; an object without a prototype is one of V8's dictionaries, at half a kilobyte
 * each. So its prototype is an empty one: {@link hideMaker}.
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
hideMaker(PermitKey, "permit");

/**
 * What redeeming gives. Whether a vault took it is in a private field, as a permit's state is. A
 * class, for an accessor in an object literal makes V8 keep each such object as a dictionary of
 * half a kilobyte, for as long as what was released lasts.
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

  /**
   * Made on first use: most performers never look at it, and joining signals costs more than
   * deciding.
   */
  get signal(): AbortSignal {
    return (this.#signal ??= anySignal(this.#state, this.#performerSignal));
  }

  static take(release: object): boolean {
    if (!(#taken in release) || release.#taken) return false;
    release.#taken = true;
    return true;
  }
}
hideMaker(Redeemed, "release");

const NO_SECRETS: readonly string[] = Object.freeze([]);
const NO_EVENTS: readonly AuditEventInput[] = Object.freeze([]);
const unchanged = <T>(value: T): T => value;
const nothing = (): undefined => undefined;

/**
 * Makes a permit, and with it the verdict that hands it out. For the gate alone: not part of the
 * public surface.
 *
 * @param verdictWith - The verdict; whoever performs it later is held to this one and to no copy of
 *   it.
 */
export function issuePermit(terms: PermitTerms, verdictWith: (permit: Permit) => Allowed): Allowed {
  const { gate, action, secrets, clock, callerSignal, shutdownSignal, event } = terms;
  const { denialNow, isKeyGone, unwritten, lease } = terms;
  const nowMs = clock.now();
  const ttlMs = Math.min(PERMIT_TTL_MS, lease?.leftMs ?? PERMIT_TTL_MS);
  // Written out: V8 gives each object that spreads another one a hidden class of its own, and it
  // lives as long as what is performed.
  const state: PermitState = {
    gate,
    action,
    // A copy that nobody can add a name to: it is handed out with the release.
    secrets: secrets.length === 0 ? NO_SECRETS : Object.freeze([...secrets]),
    clock,
    callerSignal,
    shutdownSignal,
    event,
    denialNow,
    isKeyGone,
    unwritten,
    lease,
    digest: actionDigest(action),
    expiresAtMonotonicMs: clock.monotonic() + ttlMs,
    expiresAtMs: nowMs + ttlMs,
    spent: false,
    released: false,
    told: "nothing",
    verdict: undefined,
  };
  const key: object = new PermitKey(state);
  // The one cast that makes the brand: no code outside this module can write it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  state.verdict = verdictWith(key as Permit);
  return state.verdict;
}

/**
 * Both clocks must agree that there is time left, so that no jump of one revives a permit. A
 * reading that is no number is no time left.
 */
function hasTimeLeft({ clock, expiresAtMonotonicMs, expiresAtMs }: PermitState): boolean {
  return clock.monotonic() < expiresAtMonotonicMs && clock.now() < expiresAtMs;
}

function anySignal(
  { callerSignal, shutdownSignal }: PermitState,
  performerSignal: AbortSignal | undefined,
): AbortSignal {
  const given = [callerSignal, performerSignal].filter((signal) => signal !== undefined);
  return given.length === 0 ? shutdownSignal : AbortSignal.any([...given, shutdownSignal]);
}

/**
 * True once for each release that redeeming gave: secrets enter no other one, and each only once.
 */
export function takeRelease(release: Release): boolean {
  return Redeemed.take(release);
}

/** What each injected release was made of. */
const sources = new WeakMap<Release, Release>();

/**
 * Notes what an injected release was made of. For `injectSecrets` alone: whoever could call it
 * could have a gate perform anything.
 */
export function markInjection(injected: Release, release: Release): void {
  sources.set(injected, release);
}

/** Whether `injectSecrets` made the one release of the other. */
export function isInjectedFrom(injected: Release, release: Release): boolean {
  return sources.get(injected) === release;
}

/**
 * Whether the caller, the performer or the gate has gone. Looks at each signal: joining them costs
 * more than deciding.
 */
export function isAbandoned(permit: Permit, performerSignal: AbortSignal | undefined): boolean {
  const { callerSignal, shutdownSignal } = stateOf(permit);
  return isAborted(callerSignal) || isAborted(performerSignal) || isAborted(shutdownSignal);
}

/**
 * Finds out why what stands behind a permit no longer holds. Asks a store, so that it is asked
 * before the permit is spent.
 *
 * @returns `undefined` where nothing stands behind it, so that nobody waits for nothing.
 */
export function whyLeaseOver(permit: Permit): Promise<string | undefined> | undefined {
  return stateOf(permit).lease?.whyOver();
}

/** What a gate knows of a permit that it issued, spent or not. */
export interface Issued {
  /** The verdict as it was handed out. */
  readonly verdict: Allowed;
  readonly event: EventMaker;
  /** As {@link PermitTerms.unwritten}; empty where there are none. */
  readonly unwritten: readonly AuditEventInput[];
}

/**
 * What this gate issued.
 *
 * @throws ConsentError `permit_unknown`, or `permit_other_gate` where another gate of this process
 *   issued it.
 */
export function issuedBy(gate: object, permit: Permit): Issued {
  const { gate: issuer, verdict, event, unwritten = NO_EVENTS } = stateOf(permit);
  if (issuer !== gate)
    throw new ConsentError("permit_other_gate", "Cannot use the permit: another gate issued it");
  if (verdict === undefined)
    throw new ConsentError("permit_unknown", "Cannot use the permit: it has no verdict yet");
  return { verdict, event, unwritten };
}

/** Whether redeeming a permit gave a release. */
export function isReleased(permit: Permit): boolean {
  return stateOf(permit).released;
}

/**
 * Notes how much of a permit's use is told to the log, and returns what was known before.
 * Synchronous, so that of two tellers one comes second.
 */
export function tell(permit: Permit, told: Told): Told {
  const state = stateOf(permit);
  const before = state.told;
  if (before !== "ended") state.told = told;
  return before;
}

/** Whether a permit was redeemed, by whomever and whatever came of it. */
export function isSpent(permit: Permit): boolean {
  return stateOf(permit).spent;
}

function stateOf(permit: Permit): PermitState {
  // A permit may come from JavaScript, where it can be anything.
  const state =
    typeof permit === "object" && permit !== null ? PermitKey.stateOf(permit) : undefined;
  if (state !== undefined) return state;
  const why = isFromAnotherCopy(permit, "permit")
    ? OTHER_COPY
    : "no gate of this process issued it";
  throw new ConsentError("permit_unknown", `Cannot redeem the permit: ${why}`);
}

/**
 * Redeems a permit, once. Synchronous, so that of two calls only one succeeds. Report what you did
 * with `gate.report`.
 *
 * @param action - The verdict's own action; another one leaves the permit as it is.
 * @throws ConsentError `permit_unknown`, `permit_other_action`, `permit_spent`, `permit_expired`,
 *   `permit_denied` where the layers in force deny the action by now or the grant behind it was
 *   revoked, or `action_invalid` for a value that no constructor made.
 */
export function redeem(permit: Permit, action: Action): Release {
  return redeemFor(permit, action, undefined);
}

/** Like {@link redeem}, for a performer with a signal of its own. */
export function redeemFor(
  permit: Permit,
  action: Action,
  signal: AbortSignal | undefined,
): Release {
  const state = stateOf(permit);
  if (actionDigest(action) !== state.digest)
    throw new ConsentError(
      "permit_other_action",
      "Cannot redeem the permit: it was issued for another action",
    );
  if (state.spent)
    throw new ConsentError("permit_spent", "Cannot redeem the permit: it was already redeemed");
  state.spent = true;
  if (!hasTimeLeft(state))
    throw new ConsentError("permit_expired", "Cannot redeem the permit: it has expired");
  if (state.isKeyGone())
    throw new ConsentError(
      "permit_expired",
      "Cannot redeem the permit: the keys were rotated since; ask the gate again",
    );
  const denial =
    state.lease?.isRevoked() === true
      ? "the earlier consent that allowed it was revoked"
      : state.denialNow();
  if (denial !== undefined)
    throw new ConsentError("permit_denied", `Cannot redeem the permit: ${denial}`);
  state.released = true;
  return new Redeemed(state, signal);
}

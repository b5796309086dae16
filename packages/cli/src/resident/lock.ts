/**
 * Lock: the home's keys in a resident that a person opened with a passphrase, for as long as the
 * configuration says. Wrong passphrases are answered more and more slowly. The passphrase comes over
 * the control socket; it is never written, and ends with the process.
 */
import { isConsentError } from "@acp/core";
import type { HomeKeys } from "../gate/home-keys.js";

/** How many wrong passphrases in a row are free; each further one doubles the time to wait. */
const FREE_GUESSES = 3;
const WAIT_MS_FIRST = 1_000;
const WAIT_MS_MAX: number = 15 * 60_000;

/** What came of a passphrase. Plain JSON data, as the control socket tells it. */
export type Unlocked =
  | { readonly unlocked: true; readonly until: string }
  | {
      readonly unlocked: false;
      readonly code: "key_locked" | "guesses_throttled" | "index_rebuilding" | "unlock_failed";
      readonly message: string;
    };

/** Parts of {@link createLock}. */
export interface LockParts {
  /** Opens the keys; rejects with `key_locked` where the passphrase is not the one. */
  open(passphrase: string): Promise<HomeKeys>;
  /** How long they stay open, in milliseconds. */
  ttlMs(): Promise<number>;
  /** Milliseconds of a clock that only runs forward. */
  nowMs(): number;
  /** Of the wall clock, which also runs while the machine sleeps. */
  wallMs(): number;
}

/** The keys that a person opened. */
export interface Lock {
  /** The keys, while they are open. */
  keys(): HomeKeys | undefined;
  /** When they are locked, as ISO 8601 in UTC; `undefined` while they are. */
  until(): string | undefined;
  /** Takes a person's passphrase; one at a time. */
  unlock(passphrase: string): Promise<Unlocked>;
  /** Forgets the keys. True if there were some. */
  lock(): boolean;
}

interface Open {
  readonly keys: HomeKeys;
  readonly endMs: number;
  readonly endWallMs: number;
}

const LOCKED_MEANWHILE: Unlocked = {
  unlocked: false,
  code: "unlock_failed",
  message: "Cannot unlock the key: it was locked meanwhile; try again",
};

/** @param waitMs - Left out: another one is being tried. */
function throttled(waitMs: number | undefined): Unlocked {
  const message =
    waitMs === undefined
      ? "Another passphrase is being tried; try again"
      : `Too many wrong passphrases; try again in ${Math.ceil(waitMs / 1_000)} seconds`;
  return { unlocked: false, code: "guesses_throttled", message };
}

/** How long the next guess has to wait. */
interface Throttle {
  waitMs(): number;
  wrong(): void;
  right(): void;
}

function createThrottle(nowMs: () => number): Throttle {
  let [count, notBeforeMs] = [0, 0];
  return {
    waitMs: () => notBeforeMs - nowMs(),
    wrong() {
      count++;
      const waitMs = WAIT_MS_FIRST * 2 ** (count - FREE_GUESSES - 1);
      if (count > FREE_GUESSES) notBeforeMs = nowMs() + Math.min(waitMs, WAIT_MS_MAX);
    },
    right: () => void (count = 0),
  };
}

const notOpened = (error: unknown): "index_rebuilding" | "unlock_failed" =>
  isConsentError(error, "index_rebuilding") ? "index_rebuilding" : "unlock_failed";

/** Nothing is open yet. */
export function createLock({ open, ttlMs, nowMs, wallMs }: LockParts): Lock {
  let opened: Open | undefined;
  const throttle = createThrottle(nowMs);
  let isBusy = false;
  let locks = 0;
  const current = (): Open | undefined => {
    // The clock that says the later time may be the one that stood still, or that was set back.
    if (opened !== undefined && (nowMs() >= opened.endMs || wallMs() >= opened.endWallMs))
      opened = undefined;
    return opened;
  };
  const attempt = async (passphrase: string): Promise<Unlocked> => {
    try {
      const before = locks;
      const keys = await open(passphrase);
      const forMs = await ttlMs();
      throttle.right();
      // Whoever locks means what is being opened, too.
      if (locks !== before) return LOCKED_MEANWHILE;
      opened = { keys, endMs: nowMs() + forMs, endWallMs: wallMs() + forMs };
      return { unlocked: true, until: new Date(opened.endWallMs).toISOString() };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (!isConsentError(error, "key_locked"))
        return { unlocked: false, code: notOpened(error), message };
      throttle.wrong();
      return { unlocked: false, code: "key_locked", message };
    }
  };
  return {
    keys: () => current()?.keys,
    until: () => {
      const now = current();
      return now === undefined ? undefined : new Date(now.endWallMs).toISOString();
    },
    async unlock(passphrase) {
      const waitMs = throttle.waitMs();
      // Guesses at once would all be free.
      if (isBusy || waitMs > 0) return throttled(isBusy ? undefined : waitMs);
      isBusy = true;
      try {
        return await attempt(passphrase);
      } finally {
        isBusy = false;
      }
    },
    lock() {
      locks++;
      const wasOpen = opened !== undefined || isBusy;
      opened = undefined;
      return wasOpen;
    },
  };
}

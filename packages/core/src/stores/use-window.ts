/**
 * A sliding window over the uses of one key: an exact log, no fixed windows that let two bursts
 * through at a border. Each use costs a bounded number of steps on average, however many there are.
 */
import type { LimitClaim } from "../types/limit-claim.js";

/** One use; what was not used after all has amount 0. */
export interface Use {
  readonly atMs: number;
  amount: number;
}

/** The uses of one key. */
export interface UseWindow {
  /** How long until a claim fits; 0 where it fits now. */
  waitMs(claim: LimitClaim, nowMs: number): number;
  add(claim: LimitClaim, nowMs: number): Use;
  /** Takes a use back. */
  drop(use: Use): void;
  /** Whether every use has left it. */
  isOver(nowMs: number): boolean;
}

/** Fewer uses than this are not worth tidying up. */
const TIDY_MIN = 64;

/** What was used after a moment, which is within the window. */
function sumSince(uses: readonly Use[], afterMs: number): number {
  let total = 0;
  for (let at = uses.length - 1; at >= 0; at--) {
    const use = uses[at];
    if (use === undefined || use.atMs <= afterMs) break;
    total += use.amount;
  }
  return total;
}

/** How long until uses that amount to `excess` have left the window, oldest first. */
function msUntilFree(
  uses: readonly Use[],
  {
    head,
    excess,
    windowMs,
    nowMs,
  }: Readonly<Record<"head" | "excess" | "windowMs" | "nowMs", number>>,
): number {
  let left = excess;
  for (let at = head; at < uses.length; at++) {
    const use = uses[at];
    if (use === undefined || nowMs - use.atMs >= windowMs) continue;
    left -= use.amount;
    if (left <= 0) return Math.max(1, Math.ceil(use.atMs + windowMs - nowMs));
  }
  return Math.ceil(windowMs);
}

/** A window without uses. */
export function createUseWindow(): UseWindow {
  let uses: Use[] = [];
  /** Uses before it have left the window. */
  let head = 0;
  let dropped = 0;
  let sum = 0;
  /** The longest window that was asked about; uses are kept that long. */
  let keepMs = 0;

  /** Removes what does not count, and adds up anew, so that fractions do not drift. */
  const tidy = (): void => {
    uses = uses.slice(head).filter(({ amount }) => amount > 0);
    [head, dropped] = [0, 0];
    sum = uses.reduce((total, { amount }) => total + amount, 0);
  };
  const expire = (nowMs: number): void => {
    for (
      let first = uses[head];
      first !== undefined && nowMs - first.atMs >= keepMs;
      first = uses[++head]
    ) {
      sum -= first.amount;
      if (first.amount === 0) dropped--;
    }
    if (head === uses.length || (head > TIDY_MIN && head * 2 > uses.length)) tidy();
  };

  return {
    waitMs({ amount, max, windowMs }, nowMs) {
      keepMs = Math.max(keepMs, windowMs);
      expire(nowMs);
      const used = windowMs === keepMs ? sum : sumSince(uses, nowMs - windowMs);
      const excess = used + amount - max;
      return excess <= 0 ? 0 : msUntilFree(uses, { head, excess, windowMs, nowMs });
    },
    add({ amount, windowMs }, nowMs) {
      keepMs = Math.max(keepMs, windowMs);
      const use = { atMs: nowMs, amount };
      uses.push(use);
      sum += amount;
      if (amount === 0) dropped++;
      return use;
    },
    drop(use) {
      if (use.amount === 0) return;
      // A use that has left the window no longer counts in the sum.
      const first = uses[head];
      const counts = first !== undefined && use.atMs >= first.atMs;
      if (counts) sum -= use.amount;
      use.amount = 0;
      if (counts && ++dropped > TIDY_MIN && dropped * 2 > uses.length - head) tidy();
      if (dropped === uses.length - head) tidy();
    },
    isOver(nowMs) {
      expire(nowMs);
      return head === uses.length;
    },
  };
}

/**
 * The windows of many keys. A key all of whose uses have left is forgotten: an agent that ended would
 * otherwise be kept for as long as the process lives.
 */
import { createUseWindow } from "./use-window.js";
import type { Use, UseWindow } from "./use-window.js";
import type { LimitClaim } from "../types/limit-claim.js";

/** A use and the key that it counts for. */
export interface KeyedUse {
  readonly key: string;
  readonly use: Use;
}

/** Windows by key. */
export interface UseWindows {
  /** How long until a claim fits; 0 where it fits now. */
  waitMs(claim: LimitClaim, nowMs: number): number;
  add(claim: LimitClaim, nowMs: number): KeyedUse;
  /** Takes a use back. */
  drop(use: KeyedUse, nowMs: number): void;
  /** How many keys are kept. */
  size(): number;
}

/** With fewer keys than this nobody looks for those that are over. */
const FORGET_MIN = 64;

/** No key has been used. */
export function createUseWindows(): UseWindows {
  const windows = new Map<string, UseWindow>();
  let forgetAt = FORGET_MIN;
  /** Twice as many keys as were left the last time: a use costs as much, however many there are. */
  const forgetOver = (nowMs: number): void => {
    if (windows.size < forgetAt) return;
    for (const [key, window] of windows) if (window.isOver(nowMs)) windows.delete(key);
    forgetAt = Math.max(FORGET_MIN, 2 * windows.size);
  };
  return {
    waitMs: (claim, nowMs) => windows.get(claim.key)?.waitMs(claim, nowMs) ?? 0,
    add(claim, nowMs) {
      const { key } = claim;
      let window = windows.get(key);
      if (window === undefined) {
        forgetOver(nowMs);
        window = createUseWindow();
        windows.set(key, window);
      }
      return { key, use: window.add(claim, nowMs) };
    },
    drop({ key, use }, nowMs) {
      const window = windows.get(key);
      window?.drop(use);
      if (window?.isOver(nowMs) === true) windows.delete(key);
    },
    size: () => windows.size,
  };
}

/**
 * Call limits: how many tool calls a server has at a time, and how long each may take. What waits
 * keeps its order; how much may wait is limited with all calls of the client (spec/mcp-proxy.md §15).
 */
import type { Clock } from "@acp/core";
import { LEFT_CALL_MS } from "./limits.js";
import type { UpstreamLimits } from "./server-process.js";

/** The limits of one server's calls. */
export interface CallLimits {
  /** For one call. */
  turn(): CallTurn;
}

/** One call's place among those that its server has. */
export interface CallTurn {
  /** Says that the server took too long. */
  readonly timeoutMs: number;
  /**
   * Waits until the server takes another call.
   *
   * @param late - Called once the call, from then on, takes too long.
   * @returns What to call when the call is over.
   * @throws The signal's reason once it aborts, or that the client is gone: no place was taken.
   */
  enter(signal: AbortSignal, late: () => void): Promise<() => void>;
  /** The client is gone: the call waits no longer than some seconds more. */
  leave(): void;
}

/** `undefined` where a server's calls have none. */
export function createCallLimits(
  { callsMax = Number.POSITIVE_INFINITY, callTimeoutMs }: UpstreamLimits = {},
  clock: Clock,
): CallLimits | undefined {
  if (callsMax === Number.POSITIVE_INFINITY && callTimeoutMs === undefined) return undefined;
  const places = createPlaces(callsMax);
  return {
    turn() {
      const left = new AbortController();
      return {
        timeoutMs: callTimeoutMs ?? 0,
        async enter(signal, late) {
          const leavePlace = await places.enter(AbortSignal.any([signal, left.signal]));
          const over = new AbortController();
          if (callTimeoutMs !== undefined)
            clock
              .sleep(callTimeoutMs, { signal: over.signal, background: true })
              .then(late)
              .catch(() => {});
          return () => {
            over.abort(new Error("the call is over"));
            leavePlace();
          };
        },
        leave() {
          clock
            .sleep(LEFT_CALL_MS, { signal: left.signal, background: true })
            .then(() => left.abort(new Error("the client is gone")))
            .catch(() => {});
        },
      };
    },
  };
}

interface Places {
  enter(signal: AbortSignal): Promise<() => void>;
}

/** In the order in which they came. */
function createPlaces(max: number): Places {
  let free = max;
  const waiting = new Set<() => void>();
  const leaving = (): (() => void) => {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const [next] = waiting;
      if (next === undefined) free++;
      else next();
    };
  };
  return {
    enter(signal) {
      if (signal.aborted) return Promise.reject(reasonOf(signal));
      if (free > 0) {
        free--;
        return Promise.resolve(leaving());
      }
      return new Promise((resolve, reject) => {
        const stop = (): void => {
          waiting.delete(take);
          reject(reasonOf(signal));
        };
        const take = (): void => {
          waiting.delete(take);
          signal.removeEventListener("abort", stop);
          resolve(leaving());
        };
        waiting.add(take);
        signal.addEventListener("abort", stop, { once: true });
      });
    },
  };
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error("the call was given up");
}

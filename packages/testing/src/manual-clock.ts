/** A clock that stands still until it is told to move. */
import { asError, type Clock } from "@acp/core";

/** A clock that a test moves. */
export interface ManualClock extends Clock {
  /**
   * Moves both clocks forward by milliseconds, waking sleepers in order; resolves when what they
   * started has run.
   */
  advance(ms: number): Promise<void>;
  /**
   * Moves only the wall clock by milliseconds, also backward, as an operator or a time server
   * would.
   */
  jump(ms: number): void;
  /** Restarts the machine: another boot, with an uptime from 0. The other clocks continue. */
  reboot(): void;
}

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** 2026-01-15T10:30:00.000Z. */
const START_MS = 1_768_473_000_000;

// One turn of the event loop runs every microtask that is ready; a few cover chains of stores,
// channels and sinks.
const TURNS = 8;

async function settleTasks(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Makes a clock that moves only by {@link ManualClock.advance} and {@link ManualClock.jump}.
 *
 * @param startMs - Wall time at the start, milliseconds since 1970.
 */
export function manualClock(startMs: number = START_MS): ManualClock {
  let monotonicMs = 0;
  let offsetMs = startMs;
  let boots = 1;
  let bootedMs = 0;
  const sleepers = new Set<Sleeper>();

  const nextDue = (untilMs: number): Sleeper | undefined =>
    [...sleepers].filter(({ dueMs }) => dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs)[0];

  return {
    now: () => monotonicMs + offsetMs,
    monotonic: () => monotonicMs,
    bootId: () => `boot_${boots}`,
    uptimeMs: () => monotonicMs - bootedMs,
    sleep: (ms, { signal }) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(asError(signal.reason));
        const stop = (): void => {
          sleepers.delete(sleeper);
          reject(asError(signal.reason));
        };
        const sleeper: Sleeper = {
          dueMs: monotonicMs + ms,
          wake: () => {
            sleepers.delete(sleeper);
            signal.removeEventListener("abort", stop);
            resolve();
          },
        };
        signal.addEventListener("abort", stop, { once: true });
        sleepers.add(sleeper);
      }),
    async advance(ms) {
      const endMs = monotonicMs + ms;
      await settleTasks();
      for (let due = nextDue(endMs); due !== undefined; due = nextDue(endMs)) {
        monotonicMs = Math.max(monotonicMs, due.dueMs);
        due.wake();
        await settleTasks();
      }
      monotonicMs = endMs;
    },
    jump: (ms) => void (offsetMs += ms),
    reboot() {
      boots++;
      bootedMs = monotonicMs;
    },
  };
}

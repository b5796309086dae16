/**
 * Pressure: responses whose clients read slower than they are written to. What comes next for the same
 * session waits for them; one that reads nothing for long loses its connection.
 */
import type { ServerResponse } from "node:http";
import { STALLED_MS_MAX } from "./limits.js";

/** Writes, and knows who is slow. */
export interface Pressure {
  write(response: ServerResponse, bytes: Buffer | string): void;
  /** Writes the last of it: what is not read in time is not kept. */
  end(response: ServerResponse, bytes: Buffer | string): void;
  /** Resolves when every response takes more; nothing where all do. */
  pause(): Promise<void> | undefined;
}

/** Nobody is slow yet. */
export function createPressure(stalledMsMax: number = STALLED_MS_MAX): Pressure {
  const pressed = new Set<ServerResponse>();
  let waiting: (() => void)[] = [];
  const write: Pressure["write"] = (response, bytes) => {
    if (response.write(bytes) || response.destroyed || pressed.has(response)) return;
    pressed.add(response);
    const stalled = setTimeout(() => response.destroy(), stalledMsMax);
    stalled.unref();
    const free = (): void => {
      clearTimeout(stalled);
      response.off("drain", free);
      response.off("close", free);
      pressed.delete(response);
      if (pressed.size > 0) return;
      const all = waiting;
      waiting = [];
      for (const wake of all) wake();
    };
    response.once("drain", free);
    response.once("close", free);
  };
  return {
    write,
    end(response, bytes) {
      write(response, bytes);
      // From here on it is "close" that tells that all was taken.
      response.end();
    },
    pause: () =>
      pressed.size === 0 ? undefined : new Promise<void>((resolve) => waiting.push(resolve)),
  };
}

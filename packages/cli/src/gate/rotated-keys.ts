/**
 * Rotated keys: what a gate does while somebody rotates the keys of its home. It takes the new ones
 * over (`key-ring.ts`); until they are open it asks nobody, since no answer could be signed.
 */
import type { GateOptions } from "@acp/core";
import { readAgentPause, readPause } from "@acp/home";
import type { Home } from "@acp/home";
import type { HomeKeys } from "./home-keys.js";
import type { Notices } from "./notices.js";

/** Parts of {@link heedRotation}. */
export interface RotationParts extends HomeKeys {
  readonly home: Home;
  readonly notices: Notices;
}

/** Options of a gate whose keys may be rotated; disposing of it ends looking. */
export interface Rotation extends Disposable {
  /** The keys' options, `paused` and `pausedAgent`, which `acp pause` sets too. */
  readonly options: HomeKeys["gateOptions"] & Pick<GateOptions, "paused" | "pausedAgent">;
}

/** Follows the home's keys for a gate. */
export function heedRotation({ home, ring, gateOptions, notices }: RotationParts): Rotation {
  const following = ring?.follow((text) => notices.tell("keys_rotated", text));
  return {
    options: {
      ...gateOptions,
      paused: () => ring?.whyNot() ?? readPause(home, Date.now()),
      pausedAgent: (agent) => readAgentPause(home, agent, Date.now()),
    },
    [Symbol.dispose]: () => following?.[Symbol.dispose](),
  };
}

/**
 * Rotated keys: a gate opens its keys once, and somebody may rotate them while it runs. It can then
 * neither sign an answer nor open the vault, which it needs for every call, if only to mask what
 * comes back. So it denies every call until it is started again, and tells the operator why, once.
 */
import { ConsentError } from "@acp/core";
import type { GateOptions } from "@acp/core";
import { readAgentPause, readPause, whyOutOfUse } from "@acp/home";
import type { Home } from "@acp/home";
import type { HomeKeys } from "./home-keys.js";
import type { Notices } from "./notices.js";

/** Parts of {@link heedRotation}. */
export interface RotationParts extends HomeKeys {
  readonly home: Home;
  readonly notices: Notices;
}

/**
 * What a gate takes: the keys' options, `paused` and `pausedAgent`, which `acp pause` sets too.
 * Nobody is asked for an answer that could not be signed.
 */
export function heedRotation({
  home,
  keys,
  gateOptions,
  notices,
}: RotationParts): HomeKeys["gateOptions"] & Pick<GateOptions, "paused" | "pausedAgent"> {
  let isTold = false;
  const whyRotated = (): string | undefined => {
    const reason = keys === undefined ? undefined : whyOutOfUse(home, keys);
    if (reason !== undefined && !isTold)
      notices.tell("keys_rotated", `Every call is denied from now on: ${reason}`);
    isTold ||= reason !== undefined;
    return reason;
  };
  const { vault } = gateOptions;
  return {
    ...gateOptions,
    paused: () => whyRotated() ?? readPause(home, Date.now()),
    pausedAgent: (agent) => readAgentPause(home, agent, Date.now()),
    ...(vault !== undefined && {
      vault: {
        async inject(release) {
          const reason = whyRotated();
          if (reason !== undefined)
            throw new ConsentError("vault_invalid", `Cannot open the vault: ${reason}`);
          return vault.inject(release);
        },
      },
    }),
  };
}

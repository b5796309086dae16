/**
 * Why a gate asks nobody at this moment: `acp pause`, or keys that were rotated after it had opened them. Asking would be in vain then, since it can no
 * longer sign an answer.
 */
import type { KeyPair } from "@acp/core/proof";
import { readPause, whyOutOfUse } from "@acp/home";
import type { Home } from "@acp/home";
import type { Notices } from "./notices.js";

/** Parts of {@link createPaused}. */
export interface PausedParts {
  readonly home: Home;
  readonly keys: KeyPair | undefined;
  readonly notices: Notices;
}

/** What a gate takes as `paused`. The operator is told once that the gate has to be started again. */
export function createPaused({ home, keys, notices }: PausedParts): () => string | undefined {
  let isTold = false;
  return () => {
    const reason = keys === undefined ? undefined : whyOutOfUse(home, keys);
    if (reason === undefined) return readPause(home, Date.now());
    if (!isTold) notices.tell("keys_rotated", `Nobody is asked any more, and no secret goes out: ${reason}`);
    isTold = true;
    return `nobody is asked: ${reason}`;
  };
}

/** Report progress: what a client that asked for it hears while a person decides. */
import type { Clock } from "@acp/core";
import { notificationLine } from "./rpc.js";
import type { RpcId } from "./rpc.js";

/** Parts of {@link reportProgress}. */
export interface ProgressParts {
  readonly clock: Clock;
  readonly progressEveryMs: number;
  /** The client's; nothing is reported without one. */
  readonly token: RpcId | undefined;
  /** For people and models. */
  readonly message: string;
  readonly signal: AbortSignal;
  readonly send: (line: Buffer) => void;
}

/** Our reports stay below 1, so that a server's own, which come later, are not below them. */
const PROGRESS_STEP = 0.001;

/** Reports until the signal aborts, and rejects then. */
export async function reportProgress({
  clock,
  progressEveryMs,
  token: progressToken,
  message,
  signal,
  send,
}: ProgressParts): Promise<void> {
  if (progressToken === undefined) return;
  for (let count = 1; ; count++) {
    await clock.sleep(progressEveryMs, { signal });
    send(
      notificationLine("notifications/progress", {
        progressToken,
        progress: count * PROGRESS_STEP,
        message,
      }),
    );
  }
}

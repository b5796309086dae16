/** Start heard: a process of a shared server, and what becomes of its lines. */
import type { Clock } from "@acp/core";
import { SHARED_LINES_AT_ONCE } from "../limits.js";
import type { ServerFailure } from "../failure.js";
import { createLoopTurns } from "../loop-turns.js";
import type { Masks } from "../masks.js";
import { tooLarge } from "../too-large.js";
import type { Upstream, UpstreamHandlers } from "../upstream.js";

interface HeardParts {
  readonly config: { readonly name: string };
  readonly options: { readonly log: (line: string) => void };
  readonly clock: Clock;
  readonly masks: Masks;
  readonly startProcess: (handlers: UpstreamHandlers) => Upstream;
}

interface Hearing extends Pick<UpstreamHandlers, "awaits" | "onPressure"> {
  hear(line: Buffer): void;
  end(why: ServerFailure): void;
}

/** Starts it. */
export function startHeard(
  { config, options, clock, startProcess, masks }: HeardParts,
  { hear, end, ...handlers }: Hearing,
): Upstream {
  const giveUp = (reason: string): void => end({ server: config.name, reason });
  const all: UpstreamHandlers = {
    ...handlers,
    clock,
    masks,
    turns: createLoopTurns(() => SHARED_LINES_AT_ONCE),
    onLine: hear,
    onOversize: (line) => tooLarge(line, { name: config.name, giveUp }, hear),
    onEnd: end,
    log: options.log,
  };
  return startProcess(all);
}

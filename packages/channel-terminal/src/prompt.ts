/**
 * Prompt: reads a line that can only be meant for what is on the screen, while the time left counts down.
 */
import type { Clock } from "@acp/core";
import type { Screen } from "./screen.js";
import type { Typed, TypedInput } from "./typed-input.js";

/** How long nothing may be typed before a prompt appears: keys meant for what was there before fall into this time. */
export const TYPE_AHEAD_GUARD_MS = 400;
const TICK_MS = 1_000;

/** A person's screen and keyboard. */
export interface Desk {
  readonly screen: Screen;
  readonly input: TypedInput;
  readonly clock: Clock;
  readonly guardMs: number;
}

/** Options of {@link promptLine}. */
export interface PromptOptions {
  /** What stands before the cursor. */
  readonly label: string;
  /** The line above, asked for once a second. */
  readonly status: () => string;
  readonly signal: AbortSignal;
}

/** Throws early input away; a line that was begun early is thrown away to its end, however late that comes. */
async function dropEarlyInput({ screen, input, guardMs }: Desk, signal: AbortSignal): Promise<Typed["kind"]> {
  for (;;) {
    const drained = await input.drain(guardMs, signal);
    if (signal.aborted) return "gone";
    if (drained === "nothing") return "line";
    if (drained === "lines") {
      screen.say("(ignored what was typed before this prompt)", "dim");
      return "line";
    }
    screen.say("(ignored what was typed before this prompt; press Enter to begin)", "dim");
    const rest = await input.readLine(signal);
    if (rest.kind !== "line") return rest.kind;
  }
}

async function tick({ screen, clock }: Desk, status: () => string, signal: AbortSignal): Promise<void> {
  if (!screen.live) return;
  try {
    for (;;) {
      await clock.sleep(TICK_MS, { signal });
      screen.restatus(status());
    }
  } catch {
    // The prompt is over.
  }
}

/**
 * Shows a prompt and reads one line that was begun after it appeared.
 */
export async function promptLine(desk: Desk, { label, status, signal }: PromptOptions): Promise<Typed> {
  const early = await dropEarlyInput(desk, signal);
  if (early !== "line") return { kind: early };
  desk.screen.prompt(status(), label);
  const stop = new AbortController();
  const ticking = tick(desk, status, stop.signal);
  const typed = await desk.input.readLine(signal);
  stop.abort();
  await ticking;
  // A terminal shows the Enter that ended the line; in every other case the prompt's line is still open.
  if (typed.kind !== "line" || !desk.input.isTTY) desk.screen.say("");
  return typed;
}

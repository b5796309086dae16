/**
 * Prompt: reads a line that can only be meant for what is on the screen, while the time left counts
 * down.
 */
import type { Clock } from "@acp/core";
import type { Screen } from "@acp/host";
import { MARK_NO_PASTES, MARK_PASTES } from "./keyed-line.js";
import type { Typed, TypedInput, TypedKeys } from "./typed-input.js";

/**
 * How long nothing may be typed before a prompt appears: keys meant for what was there before fall
 * into this time.
 */
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

/**
 * Throws early input away; a line that was begun early is thrown away to its end, however late that
 * comes.
 */
async function dropEarlyInput(
  { screen, input, guardMs }: Desk,
  signal: AbortSignal,
): Promise<Typed["kind"]> {
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

async function tick(
  { screen, clock }: Desk,
  status: () => string,
  signal: AbortSignal,
): Promise<void> {
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

/** A line that was typed at a prompt. */
export type PromptedLine = Exclude<TypedKeys, { kind: "pasted" }>;

/** Why a line that came in one piece says no yes. */
export const NOT_KEY_BY_KEY =
  "several characters came at once, as from a paste; type it key by key";

/**
 * Shows a prompt and reads one line that was begun after it appeared. What is pasted is thrown
 * away, and the prompt shown again.
 */
export async function promptLine(
  desk: Desk,
  { label, status, signal }: PromptOptions,
): Promise<PromptedLine> {
  const { screen, input } = desk;
  for (;;) {
    const early = await dropEarlyInput(desk, signal);
    if (early !== "line") return { kind: early };
    if (input.isTTY) screen.echo(MARK_PASTES);
    screen.prompt(status(), label);
    const stop = new AbortController();
    const ticking = tick(desk, status, stop.signal);
    const typed = await input.readKeys(signal, screen.echo);
    if (input.isTTY) screen.echo(MARK_NO_PASTES);
    stop.abort();
    await ticking;
    // Nobody but us shows the Enter that ended the line.
    screen.say("");
    if (typed.kind !== "pasted") return typed;
    screen.say("(ignored what was pasted: it answers nothing)", "yellow");
  }
}

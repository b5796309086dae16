/**
 * Notices: tells the receiver in the background that a question ended, so that its screen can be
 * taken back, and what became of a yes. Nothing waits for it.
 */
import { setMaxListeners } from "node:events";
import { type ConsentOutcome, type ConsentRequest, type Ending, asError } from "@acp/core";
import { endedEvent, outcomeEvent } from "./events.js";
import type { OutgoingMessage, Send, SendParts } from "./send.js";

/** Attempts to tell of an end: for some eight minutes. */
const ATTEMPTS_MAX = 5;
/** How long closing waits for attempts that are under way. */
const CLOSE_GRACE_MS = 5_000;

/** The notices of one channel. */
export interface Notices {
  tell(request: ConsentRequest, ending: Ending): void;
  /** Says what became of a yes; nothing once the channel is closed. */
  tellOutcome(request: ConsentRequest, outcome: ConsentOutcome): void;
  /** Waits for attempts that are under way; nothing that failed is tried again. */
  close(): Promise<void>;
}

/** Makes the notices of a channel. */
export function createNotices(
  send: Send,
  { clock, warn }: Pick<SendParts, "clock" | "warn">,
): Notices {
  const underWay = new Set<Promise<void>>();
  const closing = new AbortController();
  const stop = new AbortController();
  // As many may listen as there are ends: they are many where many questions end at once, and none
  // of them is a leak.
  setMaxListeners(0, closing.signal, stop.signal);
  const bring = (event: OutgoingMessage, what: string): void => {
    const telling = send(event, {
      signal: stop.signal,
      patience: closing.signal,
      attemptsMax: ATTEMPTS_MAX,
    })
      .then(
        () => undefined,
        (error: unknown) => warn(`Cannot inform the receiver ${what}: ${asError(error).message}`),
      )
      .finally(() => underWay.delete(telling));
    underWay.add(telling);
  };
  return {
    tell: (request, ending) =>
      bring(endedEvent(request, ending, clock.now()), `that question "${request.id}" ended`),
    tellOutcome(request, outcome) {
      if (closing.signal.aborted) return;
      bring(
        outcomeEvent(request, outcome, clock.now()),
        `of the outcome of question "${request.id}"`,
      );
    },
    async close() {
      closing.abort(new Error("the channel is closed"));
      const done = new AbortController();
      const giveUp = (): void => stop.abort(new Error("the channel is closed"));
      clock
        .sleep(CLOSE_GRACE_MS, { signal: done.signal, background: true })
        .then(giveUp, () => undefined);
      await Promise.all(underWay);
      done.abort();
    },
  };
}

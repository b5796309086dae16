/**
 * Outbox: what is written into the chat, one call after the other. A failure that passes is waited
 * out and the call made again, so nothing is lost; a pause that Telegram asks for holds for every
 * call.
 */
import type { Clock } from "@acp/core";
import type { ApiCall, ApiReply, BotApi } from "./bot-api.js";
import { isTemporary, pause, waitMsAfter } from "./retry.js";

/**
 * Makes a call in its turn; it gives up where the call's signal aborts before its turn or between
 * two tries.
 */
export type Outbox = (call: ApiCall) => Promise<ApiReply>;

/** Parts of {@link createOutbox}. */
export interface OutboxOptions {
  readonly api: BotApi;
  readonly clock: Clock;
  /** Ends the call that is on its way. */
  readonly signal: AbortSignal;
  /** Told once when calls begin to fail. */
  readonly warn: (message: string) => void;
}

/** An empty outbox. */
export function createOutbox({ api, clock, signal, warn }: OutboxOptions): Outbox {
  let last: Promise<unknown> = Promise.resolve();
  let failures = 0;
  let notBeforeMs = 0;

  const carry = async (call: ApiCall): Promise<ApiReply> => {
    for (;;) {
      const waitMs = notBeforeMs - clock.monotonic();
      if (waitMs > 0) await pause(clock, waitMs, call.signal);
      if (call.signal.aborted) return { ok: false, status: 0, why: "given up" };
      // A call that is on its way is not cut off where its reason is gone: a message must be known
      // to be taken back.
      const reply = await api({ ...call, signal });
      if (reply.ok || !isTemporary(reply)) {
        failures = 0;
        return reply;
      }
      if (failures === 0) warn(`Telegram did not accept a message: ${reply.why}; trying again`);
      notBeforeMs = clock.monotonic() + waitMsAfter(reply, failures++);
    }
  };
  return (call) => {
    const carried = last.then(() => carry(call));
    last = carried;
    return carried;
  };
}

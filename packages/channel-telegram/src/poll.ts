/**
 * Poll: takes updates by long polling, for as long as the channel lives. What was waiting before
 * the channel started is thrown away unread: an old tap is an answer to nothing.
 */
import { type Clock, ConsentError, type JsonObject, type JsonValue } from "@acp/core";
import type { ApiFailure, ApiReply, BotApi } from "./bot-api.js";
import { integerAt } from "./json.js";
import { WAIT_MS_MAX, isTemporary, isTokenRefused, pause, waitMsAfter } from "./retry.js";
import { ALLOWED_UPDATES } from "./update.js";

const POLL_S = 25;
const POLL_TIMEOUT_MS = 40_000;
/**
 * An empty reply that comes sooner is followed by a pause: a server that does not wait must not be
 * asked without end.
 */
const EMPTY_POLL_MS_MIN = 1_000;

/** Parts of {@link pollUpdates}. */
export interface PollOptions {
  readonly api: BotApi;
  /** Takes one update; it never throws. */
  readonly take: (update: JsonValue) => void;
  /**
   * Called once the updates from before the start are gone, or with the ConsentError where a person
   * must repair something first.
   */
  readonly started: (error?: ConsentError) => void;
  readonly warn: (message: string) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Whether only a person can end the failure: no update will come before that. */
const needsPerson = (failure: ApiFailure): boolean =>
  isTokenRefused(failure) || (failure.status === 409 && failure.why.includes("webhook is active"));

/** What a person can do about a failure. */
export function explainFailure(failure: ApiFailure): string {
  if (isTokenRefused(failure))
    return `Telegram refuses the bot's token (${failure.why}); get the current one from BotFather`;
  if (failure.status === 409)
    return `another program receives this bot's updates (${failure.why}); a token serves one gate: end the other program, or delete its webhook`;
  return `Cannot get updates from Telegram: ${failure.why}; trying again`;
}

/** The offset that confirms all of a batch. */
const nextOffset = (updates: readonly JsonValue[], offset: number): number =>
  updates.reduce(
    (next: number, update) => Math.max(next, (integerAt(update, "update_id") ?? -1) + 1),
    offset,
  );

const updatesOf = (reply: ApiReply): readonly JsonValue[] | undefined =>
  reply.ok && Array.isArray(reply.result) ? reply.result : undefined;

/** Polls until the signal aborts. */
export async function pollUpdates(options: PollOptions): Promise<void> {
  await poll(options);
  options.started(
    new ConsentError("channel_unavailable", "Cannot ask on Telegram: the channel is closed"),
  );
}

async function poll({ api, take, started, warn, clock, signal }: PollOptions): Promise<void> {
  // A negative offset forgets all updates but the last; confirming that one leaves none.
  let offset = -1;
  let isFirst = true;
  let failures = 0;
  while (!signal.aborted) {
    const params: JsonObject = {
      offset,
      timeout: isFirst ? 0 : POLL_S,
      allowed_updates: ALLOWED_UPDATES,
    };
    const askedMs = clock.monotonic();
    const reply = await api({ method: "getUpdates", params, timeoutMs: POLL_TIMEOUT_MS, signal });
    if (signal.aborted) return;
    const updates = updatesOf(reply);
    if (updates === undefined) {
      const failure: ApiFailure = reply.ok
        ? { ok: false, status: 0, why: "the reply has no list of updates" }
        : reply;
      if (failures === 0) warn(explainFailure(failure));
      if (needsPerson(failure))
        started(
          new ConsentError(
            "channel_unavailable",
            `Cannot ask on Telegram: ${explainFailure(failure)}`,
          ),
        );
      await pause(
        clock,
        isTemporary(failure) || failure.status === 409
          ? waitMsAfter(failure, failures)
          : WAIT_MS_MAX,
        signal,
      );
      failures++;
      continue;
    }
    failures = 0;
    if (!isFirst) for (const update of updates) take(update);
    offset = nextOffset(updates, isFirst ? 0 : offset);
    if (isFirst) started();
    else if (updates.length === 0 && clock.monotonic() - askedMs < EMPTY_POLL_MS_MIN)
      await pause(clock, EMPTY_POLL_MS_MIN, signal);
    isFirst = false;
  }
}

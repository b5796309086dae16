/**
 * BotApiUpdates: how a Bot API double hands updates out: long polling, one poll at a time, or a
 * webhook, which excludes it.
 */
import type { JsonObject, JsonValue } from "@acp/core";
import { createQueue } from "./bot-api-queue.js";
import { type Refusal, RefusedCall } from "./bot-api-rules.js";
import { createWebhookPoster } from "./bot-api-webhook.js";

/** The updates. */
export interface BotApiUpdates extends AsyncDisposable {
  readonly push: (kind: string, value: JsonObject) => number;
  /** Hands out an update again, as a service that lost its confirmation would. */
  readonly repeat: (updateId: number) => void;
  /** How many wait. */
  readonly waiting: () => number;
  /** Ends a poll that waits with an error. */
  readonly endPoll: (refusal: Refusal) => void;
  readonly getUpdates: (params: JsonObject, signal: AbortSignal) => Promise<JsonValue>;
  readonly setWebhook: (params: JsonObject) => JsonValue;
  readonly webhookInfo: () => JsonValue;
}

const LIMIT_MAX = 100;
const TIMEOUT_S_MAX = 50;
const WEBHOOK_ACTIVE =
  "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
const OTHER_POLL =
  "terminated by other getUpdates request; make sure that only one bot instance is running";

interface Poll {
  readonly offset: number;
  readonly limit: number;
  readonly wake: (updates: JsonValue) => void;
  readonly refuse: (error: RefusedCall) => void;
}

const conflict = (why: string): Refusal => ({ status: 409, description: `Conflict: ${why}` });
const integer = (params: JsonObject, key: string, fallback: number): number =>
  typeof params[key] === "number" ? params[key] : fallback;

/** The bounds of a call of getUpdates. */
function readPoll(params: JsonObject) {
  return {
    offset: integer(params, "offset", 0),
    limit: Math.max(1, Math.min(integer(params, "limit", LIMIT_MAX), LIMIT_MAX)),
    timeoutMs: Math.min(integer(params, "timeout", 0), TIMEOUT_S_MAX) * 1_000,
  };
}

/** The poll that waits, if one does. */
function createPollPlace() {
  let poll: Poll | undefined;
  const take = (): Poll | undefined => {
    const taken = poll;
    poll = undefined;
    return taken;
  };
  /** Waits until the poll is woken, refused, out of time or gone. */
  const wait = (
    place: Pick<Poll, "offset" | "limit">,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<JsonValue> =>
    new Promise<JsonValue>((resolve, reject) => {
      const leave = (): void => {
        if (poll === mine) take();
        clearTimeout(timer);
        resolve([]);
      };
      const timer = setTimeout(leave, timeoutMs);
      signal.addEventListener("abort", leave, { once: true });
      const mine: Poll = {
        ...place,
        wake: (updates) => (clearTimeout(timer), resolve(updates)),
        refuse: (error) => (clearTimeout(timer), reject(error)),
      };
      poll = mine;
    });
  return { take, wait, now: () => poll };
}

/** No updates yet. */
export function createUpdates(): BotApiUpdates {
  const queue = createQueue();
  const webhook = createWebhookPoster(queue);
  const place = createPollPlace();

  const endPoll = (refusal: Refusal): void => place.take()?.refuse(new RefusedCall(refusal));
  const handOut = (): void => {
    const poll = place.now();
    if (webhook.url() !== "") webhook.post();
    else if (poll !== undefined) {
      const updates = queue.take(poll.offset, poll.limit);
      if (updates.length > 0) place.take()?.wake(updates);
    }
  };
  return {
    push(kind, value) {
      const id = queue.push(kind, value);
      handOut();
      return id;
    },
    repeat(updateId) {
      const update = queue.putBack(updateId);
      // By the rules of offsets a poll would not be given what it confirmed.
      if (webhook.url() === "" && update !== undefined) place.take()?.wake([update]);
      else handOut();
    },
    waiting: queue.size,
    endPoll,
    async getUpdates(params, signal) {
      if (webhook.url() !== "") throw new RefusedCall(conflict(WEBHOOK_ACTIVE));
      const { offset, limit, timeoutMs } = readPoll(params);
      queue.allow(params);
      const updates = queue.take(offset, limit);
      if (updates.length > 0 || timeoutMs <= 0) return updates;
      endPoll(conflict(OTHER_POLL));
      return place.wait({ offset: Math.max(0, offset), limit }, timeoutMs, signal);
    },
    setWebhook(params) {
      webhook.set(params);
      queue.allow(params);
      if (params["drop_pending_updates"] === true) queue.clear();
      if (webhook.url() !== "") endPoll(conflict("terminated by setWebhook request"));
      handOut();
      return true;
    },
    webhookInfo: () => ({
      url: webhook.url(),
      has_custom_certificate: false,
      pending_update_count: queue.size(),
    }),
    [Symbol.asyncDispose]: () => webhook[Symbol.asyncDispose](),
  };
}

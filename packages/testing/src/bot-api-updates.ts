/**
 * BotApiUpdates: the queue of updates of a Bot API double: long polling with its offsets, and the webhook that excludes it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject, JsonValue } from "@acp/core";
import { type Refusal, RefusedCall, badRequest } from "./bot-api-rules.js";

/** The queue. */
export interface BotApiUpdates extends AsyncDisposable {
  /** Adds an update of a kind; its id. Kinds that are not asked for are left out, with -1. */
  readonly push: (kind: string, value: JsonObject) => number;
  /** Hands out an update again, as a service that lost its confirmation would. */
  readonly repeat: (updateId: number) => void;
  /** How many wait. */
  readonly waiting: () => number;
  readonly getUpdates: (params: JsonObject, signal: AbortSignal) => Promise<JsonValue>;
  /** Ends a poll that waits with an error. */
  readonly endPoll: (refusal: Refusal) => void;
  readonly setWebhook: (params: JsonObject) => JsonValue;
  readonly deleteWebhook: (params: JsonObject) => JsonValue;
  readonly webhookInfo: () => JsonValue;
}

const LIMIT_MAX = 100;
const TIMEOUT_S_MAX = 50;
const SECRET_CHARS_MAX = 256;
const WEBHOOK_RETRY_MS = 20;
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3})$/;

interface Webhook {
  readonly url: string;
  readonly secret: string;
}

interface Poll {
  readonly offset: number;
  readonly limit: number;
  readonly wake: (updates: JsonValue) => void;
  readonly refuse: (error: RefusedCall) => void;
}

const conflict = (why: string): Refusal => ({ status: 409, description: `Conflict: ${why}` });
const integer = (params: JsonObject, key: string, fallback: number): number => (typeof params[key] === "number" ? params[key] : fallback);

function readWebhook(params: JsonObject): Webhook | undefined {
  const { url = "", secret_token: secret = "" } = params;
  if (typeof url !== "string" || typeof secret !== "string") return badRequest("invalid webhook URL specified");
  if (url === "") return undefined;
  // A Bot API server of one's own takes plain HTTP on its machine.
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: "", hostname: "" };
  if (protocol !== "https:" && !(protocol === "http:" && LOOPBACK.test(hostname))) return badRequest("invalid webhook URL specified");
  if (secret.length > SECRET_CHARS_MAX) return badRequest("secret token is too long");
  return /^[A-Za-z0-9_-]*$/.test(secret) ? { url, secret } : badRequest("secret token contains unallowed characters");
}

/** An empty queue. */
export function createUpdates(): BotApiUpdates {
  const events = new Map<number, JsonObject>();
  const history = new Map<number, JsonObject>();
  const end = new AbortController();
  let nextId = 871_000;
  let allowed: ReadonlySet<JsonValue> | undefined;
  let webhook: Webhook | undefined;
  let poll: Poll | undefined;
  let sending: Promise<void> = Promise.resolve();

  const allow = ({ allowed_updates: kinds }: JsonObject): void => {
    if (Array.isArray(kinds)) allowed = kinds.length === 0 ? undefined : new Set(kinds);
  };
  /** Updates from an offset on; those before it are confirmed and forgotten. */
  const take = (offset: number, limit: number): readonly JsonObject[] => {
    if (offset < 0) for (const id of [...events.keys()].slice(0, offset)) events.delete(id);
    else for (const id of events.keys()) if (id < offset) events.delete(id);
    return [...events.values()].slice(0, limit);
  };
  const wakePoll = (): void => {
    if (poll === undefined) return;
    const updates = take(poll.offset, poll.limit);
    if (updates.length === 0) return;
    poll.wake(updates);
    poll = undefined;
  };
  const sendAll = async (): Promise<void> => {
    for (let failures = 0; webhook !== undefined && events.size > 0 && !end.signal.aborted; ) {
      const [[id, update] = [0, {}]] = events;
      const { url, secret } = webhook;
      const headers = { "content-type": "application/json", ...(secret === "" ? {} : { "x-telegram-bot-api-secret-token": secret }) };
      const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(update), signal: end.signal }).catch(
        () => undefined,
      );
      await response?.arrayBuffer().catch(() => undefined);
      if (response?.ok === true) {
        events.delete(id);
        failures = 0;
      } else await sleep(WEBHOOK_RETRY_MS * 2 ** Math.min(failures++, 5), undefined, { signal: end.signal }).catch(() => undefined);
    }
  };
  const deliver = (): void => {
    if (webhook === undefined) wakePoll();
    else sending = sending.then(sendAll);
  };
  const endPoll = (refusal: Refusal): void => {
    poll?.refuse(new RefusedCall(refusal));
    poll = undefined;
  };

  return {
    push(kind, value) {
      if (allowed !== undefined && !allowed.has(kind)) return -1;
      const id = nextId++;
      const update = { update_id: id, [kind]: value };
      events.set(id, update);
      history.set(id, update);
      deliver();
      return id;
    },
    repeat(updateId) {
      const update = history.get(updateId);
      if (update === undefined) return;
      if (poll === undefined) events.set(updateId, update);
      else {
        // The reply is made up here: by its rules the queue would not give out what was confirmed.
        poll.wake([update]);
        poll = undefined;
      }
      if (webhook !== undefined) deliver();
    },
    waiting: () => events.size,
    endPoll,
    async getUpdates(params, signal) {
      if (webhook !== undefined)
        throw new RefusedCall(
          conflict("can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"),
        );
      const [offset, timeoutS] = [integer(params, "offset", 0), Math.min(integer(params, "timeout", 0), TIMEOUT_S_MAX)];
      const limit = Math.max(1, Math.min(integer(params, "limit", LIMIT_MAX), LIMIT_MAX));
      allow(params);
      const updates = take(offset, limit);
      if (updates.length > 0 || timeoutS <= 0) return updates;
      endPoll(conflict("terminated by other getUpdates request; make sure that only one bot instance is running"));
      return new Promise<JsonValue>((resolve, reject) => {
        const mine: Poll = { offset: Math.max(0, offset), limit, wake: resolve, refuse: reject };
        poll = mine;
        const forget = (): void => {
          if (poll === mine) poll = undefined;
          resolve([]);
        };
        signal.addEventListener("abort", forget, { once: true });
        sleep(timeoutS * 1_000, undefined, { signal: AbortSignal.any([signal, end.signal]) }).then(forget, forget);
      });
    },
    setWebhook(params) {
      webhook = readWebhook(params);
      allow(params);
      if (params["drop_pending_updates"] === true) events.clear();
      if (webhook !== undefined) {
        endPoll(conflict("terminated by setWebhook request"));
        deliver();
      }
      return true;
    },
    deleteWebhook(params) {
      webhook = undefined;
      if (params["drop_pending_updates"] === true) events.clear();
      return true;
    },
    webhookInfo: () => ({ url: webhook?.url ?? "", has_custom_certificate: false, pending_update_count: events.size }),
    async [Symbol.asyncDispose]() {
      end.abort();
      await sending;
    },
  };
}

/**
 * BotApiWebhook: posts the updates of a Bot API double to the address that the bot set, one after
 * the other, until each is taken.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "@acp/core";
import type { UpdateQueue } from "./bot-api-queue.js";
import { badRequest } from "./bot-api-rules.js";

/** Where updates go. */
interface Webhook {
  readonly url: string;
  readonly secret: string;
}

/** The posting side. */
export interface WebhookPoster extends AsyncDisposable {
  /** Takes the parameters of `setWebhook`; an empty address ends it. */
  readonly set: (params: JsonObject) => void;
  /** The address, or `""`. */
  readonly url: () => string;
  /** Posts what waits. */
  readonly post: () => void;
}

const SECRET_CHARS_MAX = 256;
const RETRY_MS = 20;
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3})$/;

function readWebhook({ url = "", secret_token: secret = "" }: JsonObject): Webhook | undefined {
  if (typeof url !== "string" || typeof secret !== "string")
    return badRequest("invalid webhook URL specified");
  if (url === "") return undefined;
  // A Bot API server of one's own takes plain HTTP on its machine.
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: "", hostname: "" };
  if (protocol !== "https:" && !(protocol === "http:" && LOOPBACK.test(hostname)))
    return badRequest("invalid webhook URL specified");
  if (secret.length > SECRET_CHARS_MAX) return badRequest("secret token is too long");
  return /^[A-Za-z0-9_-]*$/.test(secret)
    ? { url, secret }
    : badRequest("secret token contains unallowed characters");
}

async function postOne(
  { url, secret }: Webhook,
  update: JsonObject,
  signal: AbortSignal,
): Promise<boolean> {
  const headers = {
    "content-type": "application/json",
    ...(secret === "" ? {} : { "x-telegram-bot-api-secret-token": secret }),
  };
  try {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify(update),
      signal,
    });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** No address yet. */
export function createWebhookPoster(queue: UpdateQueue): WebhookPoster {
  const end = new AbortController();
  let webhook: Webhook | undefined;
  let posting: Promise<void> = Promise.resolve();

  const postAll = async (): Promise<void> => {
    let failures = 0;
    for (
      let next = queue.first();
      webhook !== undefined && next !== undefined && !end.signal.aborted;
      next = queue.first()
    ) {
      const [id, update] = next;
      if (await postOne(webhook, update, end.signal)) {
        queue.confirm(id);
        failures = 0;
      } else
        await sleep(RETRY_MS * 2 ** Math.min(failures++, 5), undefined, {
          signal: end.signal,
        }).catch(() => undefined);
    }
  };
  return {
    set: (params) => void (webhook = readWebhook(params)),
    url: () => webhook?.url ?? "",
    post: () => void (posting = posting.then(postAll)),
    async [Symbol.asyncDispose]() {
      end.abort();
      await posting;
    },
  };
}

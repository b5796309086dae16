/**
 * Webhook: takes updates as HTTP requests, and registers the address for them. A request without
 * the secret token is turned away before its body is read; what was waiting before the channel
 * started is dropped at Telegram.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { type Clock, ConsentError, type JsonValue, parseJson } from "@acp/core";
import { readBody } from "./body.js";
import type { BotApi } from "./bot-api.js";
import type { TelegramWebhook } from "./options.js";
import { WAIT_MS_MAX, isTemporary, pause, waitMsAfter } from "./retry.js";
import { ALLOWED_UPDATES } from "./update.js";

/**
 * Bytes of one update: a message of 4,096 characters, the message it replies to, and their
 * entities.
 */
const UPDATE_BYTES_MAX: number = 1024 * 1024;
const SECRET_HEADER = "x-telegram-bot-api-secret-token";

const sha256 = (text: string): Uint8Array => createHash("sha256").update(text).digest();

const answer = (status: number, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(null, { status, headers });

/** A handler for the requests of Telegram; `take` resolves when an update was judged. */
export function createWebhookHandler(
  secretToken: string,
  take: (update: JsonValue) => Promise<void>,
): (request: Request) => Promise<Response> {
  const expected = sha256(secretToken);
  return async (request) => {
    if (request.method !== "POST") return answer(405, { allow: "POST" });
    // Digests have one length, so that the comparison takes the same time for every token.
    if (!timingSafeEqual(sha256(request.headers.get(SECRET_HEADER) ?? ""), expected))
      return answer(401);
    if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? ""))
      return answer(415);
    let update: JsonValue;
    try {
      const bytes = await readBody(request.body, UPDATE_BYTES_MAX);
      if (bytes === undefined) return answer(413);
      update = parseJson(bytes, { bytesMax: UPDATE_BYTES_MAX });
    } catch {
      return answer(400);
    }
    await take(update);
    return answer(200);
  };
}

/** Parts of {@link registerWebhook}. */
export interface RegisterOptions {
  readonly api: BotApi;
  readonly webhook: TelegramWebhook;
  readonly warn: (message: string) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Tells Telegram where to send updates, and to drop those that wait.
 *
 * @throws ConsentError `channel_unavailable` where Telegram refuses that; outages are waited out.
 */
export async function registerWebhook({
  api,
  webhook,
  warn,
  clock,
  signal,
}: RegisterOptions): Promise<void> {
  const params = {
    url: webhook.url,
    secret_token: webhook.secretToken,
    allowed_updates: ALLOWED_UPDATES,
    drop_pending_updates: true,
  };
  for (let failures = 0; !signal.aborted; failures++) {
    const reply = await api({ method: "setWebhook", params, signal });
    if (reply.ok || signal.aborted) return;
    const message = `Telegram did not accept the webhook: ${reply.why}`;
    if (failures === 0) warn(message);
    if (!isTemporary(reply))
      throw new ConsentError("channel_unavailable", `Cannot ask on Telegram: ${message}`);
    await pause(clock, Math.min(WAIT_MS_MAX, waitMsAfter(reply, failures)), signal);
  }
}

/** Config, channels: how a person is reached. */
import { type Spot, invalid, readMap, readOneOf, readText } from "@acp/core/yaml";
import { readSecret, readUrl, required } from "./config-values.js";

/** Channels that a file can name; `prompt` in the file is `terminal`. */
export type ChannelName = "terminal" | "telegram" | "webhook";

/** Settings of the Telegram channel. */
export interface TelegramConfig {
  /** The token, or `encrypted:<…>`. */
  readonly botToken: string;
  readonly chatId: string;
}

/** Settings of the webhook channel. */
export interface WebhookConfig {
  readonly url: string;
  /** The shared secret, or `encrypted:<…>`. */
  readonly secret: string;
}

const CHAT_CHARS_MAX = 64;

/** The channel; the terminal unless the file says otherwise. Notes what cannot be used yet. */
export function readChannel(entries: ReadonlyMap<string, Spot>, unsupported: string[]): ChannelName {
  const spot = entries.get("channel");
  const written = spot === undefined ? "prompt" : readOneOf(spot, ["prompt", "telegram", "webhook", "terminal"]);
  if (written === "prompt" || written === "terminal") return "terminal";
  unsupported.push("channel");
  return written;
}

/** The section `telegram`. */
export function readTelegram(spot: Spot): TelegramConfig {
  const entries = readMap(spot, ["bot_token", "chat_id"]);
  return { botToken: readSecret(required(spot, entries, "bot_token")), chatId: readChatId(required(spot, entries, "chat_id")) };
}

/** A chat's number must be written as text: large ones are not exact as numbers. */
function readChatId(spot: Spot): string {
  if (typeof spot.value === "number") throw invalid(spot, "expected a text, got a number", { suggestion: `"${spot.value}"` });
  return readText(spot, CHAT_CHARS_MAX);
}

/** The section `webhook`. */
export function readWebhook(spot: Spot): WebhookConfig {
  const entries = readMap(spot, ["url", "secret"]);
  return { url: readUrl(required(spot, entries, "url")), secret: readSecret(required(spot, entries, "secret")) };
}

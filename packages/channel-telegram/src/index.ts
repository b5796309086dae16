/** @acp/channel-telegram: asks a person in a Telegram chat. */
export type { TelegramChannelOptions, TelegramWebhook } from "./options.js";
export { createTelegramChannel } from "./telegram-channel.js";
export type { TelegramChannel } from "./telegram-channel.js";

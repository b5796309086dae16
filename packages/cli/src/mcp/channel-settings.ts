/**
 * Channel settings: how people are reached, with their secrets opened. Read once, when a gate starts.
 */
import { ConsentError } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import { openTelegramConfig, openWebhookConfig } from "@acp/home";
import type { TelegramConfig, WebhookConfig } from "@acp/home";
import { onFile } from "../failure.js";
import type { HomeConfig } from "./config.js";

/** The channel of a configuration, and what it needs. */
export type ChannelSettings =
  | { readonly channel: "terminal" }
  | { readonly channel: "telegram"; readonly telegram: TelegramConfig }
  | { readonly channel: "webhook"; readonly webhook: WebhookConfig };

/**
 * The settings of the channel that the configuration names; no other one's secrets are opened.
 *
 * @param keys - Left out: the home has none.
 * @throws ConsentError `key_locked` or `vault_invalid`, naming file and field; `config_invalid` where the channel has no settings.
 */
export function openChannelSettings(
  { file, config }: Pick<HomeConfig, "file" | "config">,
  keys: KeyPair | undefined,
): Promise<ChannelSettings> {
  return onFile(file, () => {
    const { channel = "terminal", telegram, webhook } = config ?? {};
    if (channel === "terminal") return { channel };
    if (channel === "telegram" && telegram !== undefined) return { channel, telegram: openTelegramConfig(telegram, keys) };
    if (channel === "webhook" && webhook !== undefined) return { channel, webhook: openWebhookConfig(webhook, keys) };
    throw new ConsentError("config_invalid", `Cannot ask by ${channel}: there is no "${channel}" with its settings`);
  });
}

/**
 * Channels: one table. A channel that config.yml can name stands here, with the section of its
 * settings and its opener. Never a scan, and never a module's name from a configuration.
 */
import type { ChannelName } from "@acp/home";
import type { ChannelRow } from "./channel-row.js";

/** Every channel, by the name that config.yml calls it. */
export const CHANNELS: Readonly<Record<ChannelName, ChannelRow>> = {
  terminal: { open: async ({ makeTerminal }) => makeTerminal() },
  telegram: {
    section: "telegram",
    open: async (parts) => (await import("./telegram.js")).openTelegram(parts),
  },
  webhook: {
    section: "webhook",
    open: async (parts) => (await import("./webhook.js")).openWebhook(parts),
  },
};

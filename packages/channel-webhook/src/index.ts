/**
 * @acp/channel-webhook: asks people through a receiver of your own; questions and answers are
 * signed by Standard Webhooks.
 */
export { type FetchHandler, toNodeHandler } from "@acp/host";
export type { WebhookChannelOptions } from "./options.js";
export { signWebhook, verifyWebhook } from "./signature.js";
export type {
  ReceivedWebhook,
  WebhookCheck,
  WebhookHeaders,
  WebhookMessage,
  WebhookProblem,
} from "./signature.js";
export type { Resolve } from "./target.js";
export { createWebhookChannel } from "./webhook-channel.js";
export type { WebhookChannel } from "./webhook-channel.js";

/** @acp/channel-webhook: asks people through a receiver of your own; questions and answers are signed by Standard Webhooks. */
export { signWebhook, verifyWebhook } from "./signature.js";
export type { ReceivedWebhook, WebhookCheck, WebhookHeaders, WebhookMessage, WebhookProblem } from "./signature.js";

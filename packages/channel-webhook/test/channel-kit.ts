/**
 * A webhook channel with its receiver, for tests that look at one message at a time.
 */
import { type JsonObject, makeResponse } from "@acp/core";
import { type ManualClock, askDouble, manualClock, sampleRequest } from "@acp/testing";
import { onTestFinished } from "vitest";
import {
  type WebhookChannel,
  type WebhookChannelOptions,
  createWebhookChannel,
} from "../src/index.js";
import { type Receiver, SECRET, startReceiver } from "./receiver.js";

/** How long anything is waited for, and how often it is looked at. */
export const patience = { timeout: 120_000, interval: 5 };

export interface ChannelKit {
  readonly clock: ManualClock;
  readonly receiver: Receiver;
  readonly warnings: readonly string[];
  readonly channel: WebhookChannel;
}

/** A channel and a receiver that are closed after the test. */
export async function makeChannel({
  approvers = ["alice", "bob"],
  ...options
}: Partial<WebhookChannelOptions> = {}): Promise<ChannelKit> {
  const clock = manualClock();
  const receiver = await startReceiver(() => clock.now());
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  const channel = createWebhookChannel({
    url: receiver.url,
    secret: SECRET,
    clock,
    warn,
    approvers,
    ...options,
  });
  onTestFinished(() => receiver.close());
  onTestFinished(() => channel.close());
  return { clock, receiver, warnings, channel };
}

export const question = (): ReturnType<typeof askDouble> =>
  askDouble(sampleRequest({ createdAtMs: manualClock().now() }));

/** Alice's yes to a question as it was posted. */
export const answerTo = (json: JsonObject, changes: JsonObject = {}): string =>
  JSON.stringify({
    ...makeResponse(
      { id: String(json["id"]), nonce: String(json["nonce"]) },
      { decision: "approved", nowMs: manualClock().now(), channel: "webhook", approverId: "alice" },
    ),
    ...changes,
  });

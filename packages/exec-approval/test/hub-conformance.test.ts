/**
 * The hub's channel against the suite that every channel passes. Its person answers with what
 * `resolveExecApproval` takes.
 */
import { type ConsentRequest, systemClock } from "@acp/core";
import { type AnswerKind, channelConformance, type ChannelUnderTest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createHubChannel } from "../src/hub-channel.js";
import { approvalIdOf } from "../src/hub-ids.js";
import type { ExecApprovalRequestPayload } from "../src/protocol.js";

/** The suite's questions are about a tool: what the message says of them is not looked at. */
const describeAny = (request: ConsentRequest): ExecApprovalRequestPayload => ({
  approvalId: approvalIdOf(request.id),
  agentId: request.agent.id,
  command: request.action.description,
  riskLevel: "needs-review",
  riskReasons: [],
  expiresAtMs: request.expiresAtMs,
});

async function hubChannel(): Promise<ChannelUnderTest> {
  let isBroken = false;
  const send = (): Promise<void> =>
    isBroken ? Promise.reject(new Error("no client is connected")) : Promise.resolve();
  const channel = createHubChannel({
    send,
    clock: systemClock,
    describe: describeAny,
    confirmDangerous: true,
  });
  return {
    channel,
    shown: async () => channel.openApprovals().map(({ approvalId }) => `cr_${approvalId}`),
    async answer(requestId: string, kind: AnswerKind) {
      const open = channel.find(approvalIdOf(requestId));
      if (open === undefined || isBroken) return;
      const { approvalId } = open.payload;
      const decision = kind === "deny" ? "deny" : "allow-once";
      const confirmation = kind === "confirm" ? { confirmation: "approve" } : {};
      await channel.submit(
        open,
        { approvalId, decision, ...confirmation },
        kind === "stranger" ? "mallory" : "alice",
      );
    },
    breakTransport: async () => void (isBroken = true),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

describe("hub channel: conformance", () => {
  // The protocol's decision names its request alone: there is no nonce that could be another's.
  const kinds = ["approve", "deny", "confirm", "stranger"] as const;
  const cases = channelConformance(hubChannel, { subject: "alice", patienceMs: 120_000, kinds });
  it.each(cases.map((each) => [each.name, each] as const))("%s", async (_name, each) => {
    await expect(each.run()).resolves.toBeUndefined();
  });
});

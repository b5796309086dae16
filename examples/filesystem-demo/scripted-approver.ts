/**
 * The approver of a demo without a terminal: attaches like `acp approve` does and gives the answers
 * of steps.ts. Not a part of ACP: a person is what the gate is for.
 */
import type { ApproverClient } from "@acp/channel-terminal";
import { makeResponse } from "@acp/core";
import type { ConsentRequest } from "@acp/core";
import type { Step } from "./steps.js";

/** Answers the next question as the step says. */
export async function answerAs(
  client: ApproverClient,
  request: ConsentRequest,
  { answer }: Step,
): Promise<void> {
  if (answer === undefined)
    throw new Error(`asked about ${request.action.description}, which nobody has to answer`);
  const { decision, modifications, reason } = answer;
  const receipt = await client.answer(
    makeResponse(request, {
      decision,
      nowMs: Date.now(),
      channel: "terminal",
      ...(modifications !== undefined && { modifications }),
      ...(reason !== undefined && { reason }),
    }),
  );
  if (receipt.status !== "final")
    throw new Error(`the gate did not take the answer: ${JSON.stringify(receipt)}`);
}

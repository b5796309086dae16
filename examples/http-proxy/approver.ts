/**
 * The scripted approver: attaches like `acp approve` does and gives the answers of steps.ts. Not a
 * part of ACP: a person is what the gate is for.
 */
import { join } from "node:path";
import { attachApprovers } from "@acp/channel-terminal";
import type { ApproverClients } from "@acp/channel-terminal";
import { makeResponse } from "@acp/core";
import type { Step } from "./steps.js";

/** Somebody who answers. */
export interface Approver extends AsyncDisposable {
  /** What to answer from now on, and how many questions were answered since the last call. */
  expect(step: Step | undefined): number;
}

/** Attaches to the gate of a home; resolves when it can be asked. */
export async function attachApprover(home: string): Promise<Approver> {
  const stop = new AbortController();
  const clients = await attachApprovers({ directory: join(home, "run"), signal: stop.signal });
  while (clients.gates() === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  let [step, asked]: [Step | undefined, number] = [undefined, 0];
  const answering = answerAll(clients, () => {
    asked++;
    return step;
  });
  return {
    expect(next) {
      const before = asked;
      [step, asked] = [next, 0];
      return before;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await clients.close();
      await answering;
    },
  };
}

/** Whoever is asked what is in no script says no. */
async function answerAll(clients: ApproverClients, next: () => Step | undefined): Promise<void> {
  for await (const change of clients.changes) {
    if (change.type !== "open") continue;
    const answer = next()?.answer ?? {
      decision: "denied" as const,
      reason: "this is not in the script",
    };
    await clients.answer(
      makeResponse(change.question.request, { ...answer, nowMs: Date.now(), channel: "terminal" }),
    );
  }
}

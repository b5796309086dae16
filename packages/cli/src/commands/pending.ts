/**
 * `acp pending`: the open questions of every running gate of the home. Looks only; it cannot answer
 * and does not count as somebody to ask.
 */
import { encodeRequest, escapeText } from "@acp/core";
import type { ConsentRequest } from "@acp/core";
import type { Run } from "../command.js";
import { showDuration } from "../duration.js";
import { attachToGates } from "../gate/run-directory.js";
import type { Printer } from "../printer.js";

/** Runs the command. */
export const pending: Run = async (invocation) => {
  const { print } = invocation;
  await using clients = await attachToGates(invocation, "viewer", new AbortController().signal);
  const requests = clients.pending().map(({ request }) => request);
  const gates = clients.gates();
  const nowMs = Date.now();
  print.result({ gates, pending: requests.map(encodeRequest) }, () => [
    ...requests.map((request) => describe(request, nowMs, print)),
    requests.length === 0
      ? `Nothing is waiting for an answer; ${gates} ${gates === 1 ? "gate is" : "gates are"} running`
      : "Answer with: acp approve",
  ]);
  return "ok";
};

function describe(
  { id, action, agent, policy, expiresAtMs }: ConsentRequest,
  nowMs: number,
  print: Printer,
): string {
  const left = print.tone("dim", `${showDuration(expiresAtMs - nowMs)} left`);
  return `${id}  ${policy.requiredLevel.padEnd(8)}  ${escapeText(action.description)}  ${escapeText(agent.id)}  ${left}`;
}

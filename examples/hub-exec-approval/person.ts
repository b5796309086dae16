/**
 * A person at a client that decides by a script: the minimal client of the protocol document. `--interactive` puts the terminal client in its place.
 */
import { ExecApprovalRequestAction, ResolveExecApprovalMethod } from "@acp/exec-approval";
import type { ApprovalDecision, ExecApprovalRequestPayload, GatewayClient } from "@acp/exec-approval";

/** What the person decides about a command. */
export type Script = (request: ExecApprovalRequestPayload) => ApprovalDecision;

/** Answers every request of the hub as the script says. */
export function answerByScript(
  client: GatewayClient,
  hubDeviceId: string,
  { decide, say }: { decide: Script; say: (line: string) => void },
): void {
  client.onMessage((message) => {
    if (message.action !== ExecApprovalRequestAction || message.from !== hubDeviceId) return;
    const { approvalId, riskLevel, riskReasons } = message.payload;
    const decision = decide(message.payload);
    say(`person   is asked (${riskLevel}: ${riskReasons[0] ?? "no reason"})`);
    client.request(hubDeviceId, ResolveExecApprovalMethod, { approvalId, decision }).then(
      (result) => say(`person   ${decision}: ${JSON.stringify(result.ok ? result.payload : result.error)}`),
      (error: unknown) => say(`person   ${decision}: ${String(error)}`),
    );
  });
}

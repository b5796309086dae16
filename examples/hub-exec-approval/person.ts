/**
 * A person at a client that decides by a script: the minimal client of the protocol document.
 * `--interactive` puts the terminal client in its place.
 */
import { ExecApprovalRequestAction, ResolveExecApprovalMethod } from "@acp/exec-approval";
import type {
  ApprovalDecision,
  ExecApprovalRequestPayload,
  GatewayClient,
} from "@acp/exec-approval";

/** What the person decides about a command. */
export type Script = (request: ExecApprovalRequestPayload) => ApprovalDecision;

/** Options of {@link answerByScript}. */
export interface ScriptOptions {
  readonly client: GatewayClient;
  readonly hubDeviceId: string;
  readonly decide: Script;
  readonly say: (line: string) => void;
}

/**
 * Answers every request of the hub as the script says; the function that it returns waits until the
 * hub has replied to all of them.
 */
export function answerByScript({
  client,
  hubDeviceId,
  decide,
  say,
}: ScriptOptions): () => Promise<unknown> {
  const answers: Promise<void>[] = [];
  const answer = async (request: ExecApprovalRequestPayload): Promise<void> => {
    const { approvalId, riskLevel, riskReasons } = request;
    const decision = decide(request);
    say(`person   is asked (${riskLevel}: ${riskReasons[0] ?? "no reason"}) and says ${decision}`);
    const result = await client.request(hubDeviceId, ResolveExecApprovalMethod, {
      approvalId,
      decision,
    });
    if (!result.ok) say(`person   was too late: ${result.error.code}`);
    else if (typeof result.payload["stored"] === "string")
      say(`person   hears that from now on nobody is asked about: ${result.payload["stored"]}`);
  };
  client.onMessage((message) => {
    if (message.action === ExecApprovalRequestAction && message.from === hubDeviceId)
      answers.push(answer(message.payload));
  });
  return () => Promise.all(answers);
}

/**
 * An agent's `exec` tool: what the model calls with a command, and the text that it reads
 * afterwards. These are all the lines that an agent of your own needs: ask the hub, run what it
 * allowed, or say why it did not.
 */
import { denialMessage } from "@acp/exec-approval";
import type { ExecApprovalHub } from "@acp/exec-approval";

/** A tool for one agent. */
export function createExecTool(
  hub: ExecApprovalHub,
  agentId: string,
): (command: string, signal?: AbortSignal) => Promise<string> {
  return async (command, signal) => {
    const context = { agentId, ...(signal === undefined ? {} : { signal }) };
    const verdict = await hub.onApprovalNeeded(command, context);
    if (verdict.decision === "deny") return denialMessage(verdict);
    const output: Buffer[] = [];
    const result = await hub.runApproved(verdict, {
      ...context,
      onOutput: ({ chunk }) => void output.push(Buffer.from(chunk)),
    });
    if (!result.ran) return denialMessage(result.verdict);
    const { value } = result;
    const end = value.end === "exited" ? `exit code ${value.exitCode}` : value.end;
    return `${Buffer.concat(output).toString("utf8")}(${end})`;
  };
}

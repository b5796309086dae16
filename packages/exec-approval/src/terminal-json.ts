/**
 * TerminalJson: the terminal client for programs: one JSON object a line, both ways. Out: `open`,
 * `ended`, `result`, `refused`. In: the parameters of `resolveExecApproval`.
 */
import { CONFIRMATION_WORD, type JsonObject, isJsonObject, parseJson } from "@acp/core";
import type { ApprovalInbox, InboxChange } from "./approval-inbox.js";
import { readResolveParams } from "./codec.js";
import type { ResolveExecApprovalParams } from "./protocol.js";
import type { TerminalEnd, TerminalInput } from "./terminal-input.js";
import type { OutputStream } from "@acp/host";

/** Parts of {@link runJsonLines}. */
export interface JsonLinesOptions {
  readonly inbox: ApprovalInbox;
  readonly input: TerminalInput;
  readonly output: OutputStream;
  readonly signal: AbortSignal;
}

const LINE_BYTES_MAX = 4_096;

function readLine(line: string): ResolveExecApprovalParams {
  const value = parseJson(line, { bytesMax: LINE_BYTES_MAX });
  return readResolveParams(isJsonObject(value) ? value : {});
}

/** Whether an answer lacks the word that a dangerous command takes. */
function lacksWord(
  inbox: ApprovalInbox,
  { approvalId, decision, confirmation }: ResolveExecApprovalParams,
): boolean {
  const request = inbox.open().find((each) => each.approvalId === approvalId);
  return (
    decision !== "deny" && request?.riskLevel === "dangerous" && confirmation !== CONFIRMATION_WORD
  );
}

/** Writes requests and reads answers until the signal or the end of the input. */
export async function runJsonLines({
  inbox,
  input,
  output,
  signal,
}: JsonLinesOptions): Promise<TerminalEnd> {
  const put = (value: object): void => void output.write(`${JSON.stringify(value)}\n`);
  const tell = (change: InboxChange): void => {
    if (change.type === "open") put({ type: "open", ...change.request });
    else put({ type: "ended", approvalId: change.request.approvalId, outcome: change.outcome });
  };
  const answer = async (line: string): Promise<void> => {
    let about: JsonObject = {};
    try {
      const params = readLine(line);
      about = { approvalId: params.approvalId };
      if (lacksWord(inbox, params))
        return put({
          type: "refused",
          ...about,
          reason: `confirmation is not "${CONFIRMATION_WORD}"`,
        });
      const outcome = await inbox.answer(params, { signal });
      put(
        outcome.ok
          ? { type: "result", ...about, ...outcome.payload }
          : { type: "result", ...about, ok: false, error: outcome.error },
      );
    } catch (error) {
      put({
        type: "refused",
        ...about,
        reason: error instanceof Error ? error.message : "the gateway is gone",
      });
    }
  };
  const unlisten = inbox.onChange(tell);
  const answers = new Set<Promise<void>>();
  try {
    for (;;) {
      const line = await input.readLine(signal);
      if (line === undefined) break;
      if (line.trim() === "") continue;
      const answering = answer(line).finally(() => answers.delete(answering));
      answers.add(answering);
    }
    await Promise.all(answers);
    return signal.aborted ? "aborted" : "input_over";
  } finally {
    unlisten();
    input.release();
  }
}

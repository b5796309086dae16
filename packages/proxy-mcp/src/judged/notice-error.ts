/**
 * Why a request beside `tools/call` was not made. It has no result in which that could be said, so it
 * is an error: the same text for the model, and the same data. Format: spec/mcp-proxy.md §18.
 */
import type { CallNotice, NoticeResult } from "../call-result.js";
import { errorLine, INTERNAL_ERROR, INVALID_PARAMS, resultLine } from "../rpc.js";
import type { RpcError, RpcId } from "../rpc.js";

/** Somebody said no: MCP's own code for a person who rejects a request. */
export const REJECTED = -1;

/** The data of a notice. */
export function noticeOf({ _meta }: NoticeResult): CallNotice | undefined {
  return _meta["acp/denied"] ?? _meta["acp/pending"];
}

/** A notice as an error. */
export function noticeError(notice: NoticeResult): RpcError {
  const data = noticeOf(notice);
  const code =
    data?.code === "arguments_invalid"
      ? INVALID_PARAMS
      : data?.code === "server_unavailable" || data?.code === "answer_unreadable"
        ? INTERNAL_ERROR
        : REJECTED;
  return { code, message: notice.content[0]?.text ?? "Not executed", data: { ...data } };
}

/** The answer for a server whose request was not made. */
export function serversAnswer(id: RpcId, method: string, notice: NoticeResult): Buffer {
  // Not for what a person may still approve, or nobody could be asked about.
  if (method === "elicitation/create" && noticeOf(notice)?.code !== "pending")
    return resultLine(id, { action: "decline" });
  const { code, message } = noticeError(notice);
  // No more: what the policy says and which question it was is none of the server's business.
  return errorLine(id, {
    code,
    message: code === REJECTED ? "The request was rejected" : message,
  });
}

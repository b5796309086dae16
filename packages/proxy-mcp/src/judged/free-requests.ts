/**
 * Requests that the gate does not judge: what of them is still refused, and what is taken out of
 * their answers. Rules: spec/mcp-proxy.md §18.
 */
import { reservedName } from "@acp/core";
import type { NoticeResult } from "../call-result.js";
import { isRecord } from "../message.js";
import type { ClientRequest } from "../message.js";
import { errorLine, INVALID_PARAMS } from "../rpc.js";
import type { RpcError } from "../rpc.js";
import { judgedAnswer } from "./judge-answer.js";
import type { Judging } from "./judging.js";
import { isOfTask } from "./methods.js";
import { noticeError } from "./notice-error.js";

/** What is kept of such a request. */
export type FreeRequest = Pick<ClientRequest, "id" | "method" | "params">;

const taskOf = (params: unknown): unknown => (isRecord(params) ? params["taskId"] : undefined);

function nameOf({ method, params }: FreeRequest): string {
  return reservedName(isOfTask(method) ? `tasks/${String(taskOf(params))}` : method);
}

/** Whose task a request is about, or why it goes nowhere. */
export function ownerOfTask(
  { tasks, asked }: Judging,
  request: FreeRequest,
): { readonly server: string } | { readonly error: RpcError } {
  const taskId = taskOf(request.params);
  const refuse = (message: string): { readonly error: RpcError } => ({
    error: { code: INVALID_PARAMS, message },
  });
  const server = tasks.ownerOf(taskId);
  if (server === undefined)
    return refuse(
      `Cannot find the task ${JSON.stringify(taskId)?.slice(0, 200) ?? ""}: this client did not get it`,
    );
  const why = asked.problem({ server, name: nameOf(request) }, request.params);
  return why === undefined ? { server } : refuse(`Cannot pass on "${request.method}": ${why}`);
}

/** Parts of {@link freeAnswer}. */
export interface FreeAnswerParts {
  readonly calls: Judging;
  readonly server: string;
  readonly request: FreeRequest;
  /** Nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
}

/** The answer as the client gets it; a promise where something in it is judged. */
export function freeAnswer(
  { calls, server, request, signal }: FreeAnswerParts,
  line: Buffer,
): Buffer | Promise<Buffer> {
  const { id, method } = request;
  // The catalog takes it.
  if (method === "tools/list") return line;
  if (method === "tasks/list") return calls.tasks.keepOwn(server, line);
  const tell = (notice: NoticeResult): Buffer => errorLine(id, noticeError(notice));
  return judgedAnswer(calls, { server, name: nameOf(request), tell, signal }, line);
}

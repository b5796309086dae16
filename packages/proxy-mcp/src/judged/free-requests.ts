/**
 * Requests that the gate does not judge: what of them is still refused, and what is taken out of
 * their answers. Rules: spec/mcp-proxy.md §18.
 */
import { reservedName } from "@acp/core";
import type { NoticeResult } from "../call-result.js";
import { fold } from "../fold.js";
import { isRecord } from "../message.js";
import type { ClientRequest } from "../message.js";
import { errorLine, INVALID_PARAMS } from "../rpc.js";
import type { RpcError } from "../rpc.js";
import { judgedAnswer } from "./judge-answer.js";
import type { Judging } from "./judging.js";
import { isOfTask } from "./methods.js";
import { noticeError } from "./notice-error.js";
import { afterRoots } from "./server-requests.js";

/** What is kept of such a request. */
export type FreeRequest = Pick<ClientRequest, "id" | "method" | "params">;

const taskOf = (params: unknown): unknown => (isRecord(params) ? params["taskId"] : undefined);

function nameOf({ method, params }: FreeRequest): string {
  return reservedName(isOfTask(method) ? `tasks/${String(taskOf(params))}` : method);
}

/** Whose task a request is about, or why it goes nowhere. */
export function ownerOfTask(
  { tasks }: Judging,
  { params }: FreeRequest,
): { readonly server: string } | { readonly error: RpcError } {
  const taskId = taskOf(params);
  const server = tasks.ownerOf(taskId);
  if (server !== undefined) return { server };
  const id = JSON.stringify(taskId)?.slice(0, 200) ?? "";
  const message = `Cannot find the task ${id}: this client did not get it`;
  return { error: { code: INVALID_PARAMS, message } };
}

/** With what a request goes on that a server asked something about, by their folded names. */
const GIVEN: ReadonlyMap<string, string> = new Map(
  ["inputResponses", "requestState"].map((member) => [fold(member), member]),
);

const isGiven = (key: string): boolean => GIVEN.has(fold(key));

/** The params without what some reader would take for an answer to a server. */
export function withoutGiven(
  params: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(params).filter(([key]) => !isGiven(key)));
}

/** Why a request goes nowhere that goes to several servers, none of which can have asked. */
export function givenToAll({ method, params }: FreeRequest): RpcError | undefined {
  const given = isRecord(params) ? Object.keys(params).find(isGiven) : undefined;
  if (given === undefined) return undefined;
  return refusal(method, `no server asked for its ${JSON.stringify(given)}`);
}

/**
 * Why a request goes nowhere, for what it answers; a promise where roots are judged before their
 * server hears of them.
 */
export function judgeGiven(
  judging: Judging,
  {
    server,
    request,
    signal,
  }: { readonly server: string; readonly request: FreeRequest; readonly signal: AbortSignal },
): RpcError | undefined | Promise<RpcError | undefined> {
  const { method, params } = request;
  const why = oddGiven(params);
  if (why !== undefined) return refusal(method, why);
  const target = { server, name: nameOf(request) };
  const problem = judging.asked.problem(target, params);
  if (problem !== undefined) return refusal(method, problem);
  const roots = judging.asked.rootsIn(target, params);
  if (roots.length === 0) return undefined;
  return new Promise((resolve) => {
    void afterRoots(judging, { server, roots, signal }, (denied) =>
      resolve(denied === undefined ? undefined : noticeError(denied)),
    );
  });
}

function oddGiven(params: unknown): string | undefined {
  if (!isRecord(params)) return undefined;
  const odd = Object.keys(params).find((key) => isGiven(key) && GIVEN.get(fold(key)) !== key);
  if (odd !== undefined)
    return `its member ${JSON.stringify(odd)} is not spelled "${GIVEN.get(fold(odd))}"`;
  const { inputResponses } = params;
  return inputResponses === undefined || isRecord(inputResponses)
    ? undefined
    : "its inputResponses are not an object";
}

function refusal(method: string, why: string): RpcError {
  return { code: INVALID_PARAMS, message: `Cannot pass on "${method}": ${why}` };
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
  const tell = (notice: NoticeResult): Buffer => errorLine(id, noticeError(notice));
  const judged = judgedAnswer(calls, { server, name: nameOf(request), tell, signal }, line);
  if (method !== "tasks/list") return judged;
  const own = (each: Buffer): Buffer => calls.tasks.keepOwn(server, each);
  return Buffer.isBuffer(judged) ? own(judged) : judged.then(own);
}

/**
 * Waiting: how one client hears that a call waits for a person, and comes back for what became of it.
 * A client that says nothing of itself hears progress and "pending", and no byte of it is looked at.
 * Nothing here consents to anything: only the gate's own channels do. Rules: spec/mcp-proxy.md §20.
 */
import type { Clock, Pending } from "@acp/core";
import { declinedResult } from "../call-result.js";
import { findValue, replaceValues } from "../json-walk.js";
import { noticeError } from "../judged/notice-error.js";
import { isRecord, readServerLine, resultOf } from "../message.js";
import type { ClientMessage, ClientRequest } from "../message.js";
import { errorLine, INVALID_PARAMS, resultLine } from "../rpc.js";
import type { RpcId } from "../rpc.js";
import {
  featuresOfRequest,
  featuresOfSession,
  isStateless,
  TASKS_EXTENSION,
} from "./client-features.js";
import type { ClientFeatures } from "./client-features.js";
import { createElicitations } from "./elicitations.js";
import type { Elicitations } from "./elicitations.js";
import { createOwnTasks } from "./own-tasks.js";
import type { OwnTasks } from "./own-tasks.js";
import { describeQuestion, describeWait } from "./question-text.js";
import { createShownQuestions } from "./shown-questions.js";
import type { ShownQuestions } from "./shown-questions.js";
import { APPROVAL_KEY, createWaitStates } from "./wait-states.js";
import type { WaitStates } from "./wait-states.js";

/**
 * Where a person answers a question, once they have signed in there: an address without any secret.
 * `undefined`: nowhere now.
 */
export type AnswerAddress = (requestId: string) => Promise<string | undefined>;

/** A call that is held. */
export interface HeldCall {
  readonly pending: Pending;
  readonly server: string;
  readonly tool: string;
  /** The client's request; `undefined` where it is not one of its own. */
  readonly request: ClientRequest | undefined;
  /** Has it never sent to its server; false where that has it already. */
  giveUp(): boolean;
}

/** How a held call goes on. */
export interface Hold {
  /** The call is answered with this now, and its decision kept for the retry. */
  readonly answer?: Buffer;
  /** The call is a task: the client is told this now, and `deliver` takes the answer. */
  readonly task?: { readonly created: Buffer; deliver(line: Buffer): void };
  /** Whether the client's user said that nobody shall be asked. */
  isDeclined(): boolean;
  /** @param isEnded - Whether the question is over, or only this wait. */
  over(isEnded: boolean): void;
}

/** The side of one client. */
export interface Waiting {
  /** The client's message as it goes on; `undefined` where it was for the proxy alone. */
  take<M extends ClientMessage>(message: M): M | ClientRequest | undefined;
  /** A line to the client as it shall see it. */
  hears(line: Buffer): Buffer;
  hold(call: HeldCall): Promise<Hold>;
  /** The client is gone. */
  leave(): void;
}

/** Parts of {@link createWaiting}. */
export interface WaitingParts {
  readonly clock: Clock;
  readonly answerAddress?: AnswerAddress | undefined;
  readonly send: (line: Buffer) => void;
}

interface State {
  readonly parts: WaitingParts;
  readonly elicitations: Elicitations;
  readonly states: WaitStates;
  readonly shown: ShownQuestions;
  readonly tasks: OwnTasks;
  /** `initialize`, until it is answered. */
  greeting: ClientRequest | undefined;
  /** Of a client with a session. */
  features: ClientFeatures;
  /** Requests `server/discover` of clients with tasks, until they are answered. */
  readonly discovers: Set<RpcId>;
}

/** That may wait for their answers; one that was taken back gets none. */
const DISCOVERS_MAX = 16;
const DECLINED = "the client's user declined to have it answered";
/** What MCP lets a server answer so. */
const MAY_ASK: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);
const PLAIN: Hold = { isDeclined: () => false, over: () => undefined };

/** Nothing waits yet. */
export function createWaiting(parts: WaitingParts): Waiting {
  const { clock, send } = parts;
  const state: State = {
    parts,
    elicitations: createElicitations(send),
    states: createWaitStates(() => clock.now()),
    shown: createShownQuestions(clock),
    tasks: createOwnTasks(clock, send),
    greeting: undefined,
    features: { url: false, tasks: false },
    discovers: new Set(),
  };
  return {
    take(message) {
      if (message.kind === "request") return takeRequest(state, message);
      if (message.kind === "response" && state.elicitations.take(message)) return undefined;
      if (message.kind === "notification" && message.method === "notifications/cancelled")
        state.tasks.forget(message);
      return message;
    },
    hears: (line) => hears(state, line),
    hold: (call) => hold(state, call),
    leave() {
      state.elicitations.clear();
      state.states.clear();
      state.shown.clear();
      state.tasks.clear();
    },
  };
}

function takeRequest(state: State, request: ClientRequest): ClientRequest | undefined {
  const { id, method, params } = request;
  if (method === "initialize") state.greeting = request;
  else if (method === "server/discover") {
    if (featuresOfRequest(params).tasks) noteDiscover(state, id);
  } else if (method.startsWith("tasks/")) return state.tasks.take(request);
  else if (MAY_ASK.has(method) && isRecord(params) && params["requestState"] !== undefined)
    return resume(state, request);
  return request;
}

function noteDiscover({ discovers }: State, id: RpcId): void {
  discovers.add(id);
  const [oldest] = discovers.size > DISCOVERS_MAX ? discovers : [];
  if (oldest !== undefined) discovers.delete(oldest);
}

/** A request that comes back with a state. */
function resume(
  { states, shown, parts }: State,
  request: ClientRequest,
): ClientRequest | undefined {
  const { id, method } = request;
  const resumed = states.resume(request);
  if (resumed.kind === "other") return request;
  if (resumed.kind === "goes_on") return resumed.request;
  if (resumed.kind === "refused") {
    const message = `Cannot continue with this requestState: ${resumed.why}; send the request again without requestState and inputResponses`;
    parts.send(errorLine(id, { code: INVALID_PARAMS, message }));
    return undefined;
  }
  const { requestId } = resumed;
  void shown.get(requestId)?.pending.withdraw(DECLINED);
  shown.end(requestId);
  const notice = declinedResult(requestId);
  parts.send(
    method === "tools/call"
      ? resultLine(id, { resultType: "complete", ...notice })
      : errorLine(id, noticeError(notice)),
  );
  return undefined;
}

function hears(state: State, line: Buffer): Buffer {
  const { greeting, discovers, tasks } = state;
  if (greeting === undefined && discovers.size === 0) return tasks.hears(line);
  const { kind, id } = readServerLine(line);
  if (kind !== "response" || id === undefined) return tasks.hears(line);
  if (id === greeting?.id) {
    state.features = featuresOfSession(greeting.params, resultOf(line));
    state.greeting = undefined;
    return line;
  }
  return discovers.delete(id) ? withTasks(line) : tasks.hears(line);
}

/** Says to a client with tasks that a call may become one. */
function withTasks(line: Buffer): Buffer {
  const result = resultOf(line);
  const capabilities = isRecord(result) ? result["capabilities"] : undefined;
  if (!isRecord(capabilities) || findValue(line, ["result", "capabilities"]) === undefined)
    return line;
  const known = isRecord(capabilities["extensions"]) ? capabilities["extensions"] : {};
  if (Object.hasOwn(known, TASKS_EXTENSION)) return line;
  const extensions = { ...known, [TASKS_EXTENSION]: {} };
  return replaceValues(line, [
    { path: ["result", "capabilities"], value: { ...capabilities, extensions } },
  ]);
}

async function hold(state: State, call: HeldCall): Promise<Hold> {
  const { request } = call;
  const isModern = request !== undefined && isStateless(request.params);
  const features = isModern ? featuresOfRequest(request.params) : state.features;
  const url = features.url ? await addressOf(state, call) : undefined;
  const { requestId } = call.pending;
  const asked = { server: call.server, tool: call.tool, requestId };
  if (isModern && url !== undefined) {
    const answer = askBack(state, call, { request, url, message: describeQuestion(asked) });
    if (answer !== undefined) return { ...PLAIN, answer };
  }
  const isDeclined =
    !isModern && url !== undefined
      ? elicit(state, call, { url, message: describeQuestion(asked) })
      : PLAIN.isDeclined;
  const task = openTask(state, call, { isModern, features, message: describeWait(asked) });
  return {
    ...(task !== undefined && { task }),
    isDeclined,
    over(isEnded) {
      task?.decided();
      if (isEnded) state.shown.end(requestId);
    },
  };
}

/** Fails closed: what is no address that may be shown is none. */
async function addressOf(
  { parts, shown }: State,
  { pending }: HeldCall,
): Promise<string | undefined> {
  const { requestId } = pending;
  if (parts.answerAddress === undefined || shown.get(requestId) !== undefined) return undefined;
  const address = await parts.answerAddress(requestId).catch(() => undefined);
  if (address === undefined || !URL.canParse(address)) return undefined;
  const { protocol, username, password } = new URL(address);
  return protocol === "https:" && username === "" && password === "" ? address : undefined;
}

/** A request that goes on with what its server asked: a client keeps one state only. */
const isOfRound = (params: unknown): boolean =>
  isRecord(params) && (params["requestState"] ?? params["inputResponses"]) !== undefined;

interface Asking {
  readonly url: string;
  readonly message: string;
}

/** The result that has a stateless client show the page and come back. */
function askBack(
  { states, shown }: State,
  { pending }: HeldCall,
  { request, url, message }: Asking & { readonly request: ClientRequest },
): Buffer | undefined {
  if (!MAY_ASK.has(request.method) || isOfRound(request.params)) return undefined;
  if (!shown.add({ pending, tellOver: () => undefined })) return undefined;
  return resultLine(request.id, {
    resultType: "input_required",
    inputRequests: {
      [APPROVAL_KEY]: { method: "elicitation/create", params: { mode: "url", message, url } },
    },
    requestState: states.give(request, pending),
  });
}

/** Has a stateful client show the page; what it returns says whether its user declined. */
function elicit(
  { elicitations, shown }: State,
  { pending }: HeldCall,
  { url, message }: Asking,
): () => boolean {
  let isDeclined = false;
  let tellOver = (): void => undefined;
  if (!shown.add({ pending, tellOver: () => tellOver() })) return PLAIN.isDeclined;
  const onDecline = (): void => {
    isDeclined = true;
    void pending.withdraw(DECLINED);
  };
  tellOver = elicitations.ask({ url, message, onDecline });
  return () => isDeclined;
}

interface Opening {
  readonly isModern: boolean;
  readonly features: ClientFeatures;
  readonly message: string;
}

function openTask(
  { tasks }: State,
  { pending, request, giveUp }: HeldCall,
  { isModern, features, message }: Opening,
): (Hold["task"] & { decided(): void }) | undefined {
  if (request?.method !== "tools/call") return undefined;
  const wants = isRecord(request.params) && request.params["task"] !== undefined;
  if (!features.tasks || (!isModern && !wants)) return undefined;
  const task = tasks.open({ pending, isStateful: !isModern, message, giveUp });
  if (task === undefined) return undefined;
  return { ...task, created: resultLine(request.id, task.created) };
}

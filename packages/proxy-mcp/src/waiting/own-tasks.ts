/**
 * Own tasks: calls that wait for a person, as tasks of the proxy's own. Their ids are random and work
 * for the client that got them. Where the server makes a task of the call in the end, ours stands for
 * it. Rules: spec/mcp-proxy.md §20.
 */
import { randomBytes } from "node:crypto";
import type { Clock, Pending } from "@acp/core";
import { replaceValues } from "../json-walk.js";
import { isRecord, readServerLine, resultOf } from "../message.js";
import type { ClientNotification, ClientRequest } from "../message.js";
import { errorLine, INVALID_PARAMS, INVALID_REQUEST, resultLine } from "../rpc.js";
import type { RpcId } from "../rpc.js";
import { featuresOfRequest, isStateless, TASKS_EXTENSION } from "./client-features.js";
import { createdTask, renamedTask, shownTask, taskResult } from "./task-shapes.js";
import type { TaskState } from "./task-shapes.js";

/** A call that has become a task. */
export interface OwnTask {
  /** The result that the client gets for now. */
  readonly created: unknown;
  /** The person has answered. */
  decided(): void;
  /** Takes the call's answer. */
  deliver(line: Buffer): void;
}

/** What a task is opened with. */
export interface TaskParts {
  readonly pending: Pending;
  readonly isStateful: boolean;
  /** What it waits for, for people and models. */
  readonly message: string;
  /** Has the call never sent to its server; false where that has it already. */
  giveUp(): boolean;
}

/** The tasks of one client. */
export interface OwnTasks {
  /** `undefined` where the client has too many. */
  open(parts: TaskParts): OwnTask | undefined;
  /** The request as it goes on, if it does: others' tasks, and those that a server goes on with. */
  take(request: ClientRequest): ClientRequest | undefined;
  /** The client does not wait for an answer any more. */
  forget(notification: ClientNotification): void;
  /** A line to the client as it shall see it. */
  hears(line: Buffer): Buffer;
  clear(): void;
}

interface Task extends TaskState {
  updatedMs: number;
  status: TaskState["status"];
  message: string;
  answer: Buffer | undefined;
  readonly pending: Pending;
  readonly giveUp: () => boolean;
  /** Whether the person has not answered yet. */
  isOpen: boolean;
  /** The server's task that it stands for. */
  alias: string | undefined;
  /** Requests for its result that wait for it. */
  readonly waiters: Set<RpcId>;
}

/** Tasks of one client. */
const TASKS_MAX = 100;
/** Bytes of all answers that are kept; one that is larger is kept alone. */
const ANSWER_BYTES_MAX: number = 64 * 1024 * 1024;
/** How long an answer is kept after the question's end, in milliseconds. */
const KEPT_MS = 3_600_000;
/** Requests for one task's result that may wait. */
const WAITERS_MAX = 8;
const MISSING_CAPABILITY = -32_021;

interface State {
  readonly clock: Clock;
  readonly send: (line: Buffer) => void;
  readonly tasks: Map<string, Task>;
  /** Requests about a server's task, by their ids: the task of ours that it is. */
  readonly passed: Map<RpcId, string>;
}

const isOver = ({ status }: Task): boolean => status !== "working";
const isKept = (task: Task): boolean => isOver(task) || task.alias !== undefined;
const isOld = (task: Task, nowMs: number): boolean =>
  isKept(task) && nowMs >= task.createdMs + task.ttlMs;

/** Forgets what is over and old, and of the rest what is too much. */
function sweep({ tasks, clock }: State, isFull: boolean): void {
  for (const task of tasks.values()) if (isOld(task, clock.now())) tasks.delete(task.taskId);
  const over = [...tasks.values()].filter(isKept);
  let bytes = over.reduce((sum, { answer }) => sum + (answer?.length ?? 0), 0);
  const isTooMuch = (): boolean => bytes > ANSWER_BYTES_MAX || (isFull && tasks.size >= TASKS_MAX);
  for (const task of over.slice(0, isFull ? undefined : -1)) {
    if (!isTooMuch()) break;
    bytes -= task.answer?.length ?? 0;
    tasks.delete(task.taskId);
  }
}

/** The id of the task that a server made of the call, if it made one. */
function serversTask(line: Buffer): string | undefined {
  const result = resultOf(line);
  if (!isRecord(result)) return undefined;
  const { task } = result;
  const id = result["resultType"] === "task" ? result["taskId"] : undefined;
  const given = isRecord(task) ? task["taskId"] : id;
  return typeof given === "string" ? given : undefined;
}

function finish(state: State, task: Task, line: Buffer): void {
  const alias = isOver(task) ? undefined : serversTask(line);
  task.updatedMs = state.clock.now();
  task.alias = alias;
  if (alias === undefined && !isOver(task)) {
    const isError = resultOf(line) === undefined;
    task.answer = Buffer.from(line);
    task.status = isError ? "failed" : "completed";
    task.message = isError ? "The server answered with an error" : "The call is answered";
  }
  for (const id of task.waiters) {
    // What a server's task comes to is asked of the server.
    if (alias === undefined) answerResult(state, task, id);
    else state.send(errorLine(id, { code: INVALID_REQUEST, message: ASK_AGAIN }));
  }
  task.waiters.clear();
  sweep(state, false);
}

const ASK_AGAIN = "The server has the task now: send tasks/result again";

function answerResult({ send }: State, task: Task, id: RpcId): void {
  if (task.answer !== undefined) return send(taskResult(id, task.taskId, task.answer));
  const message = "Cannot give the task's result: it was canceled";
  return send(errorLine(id, { code: INVALID_PARAMS, message }));
}

function cancel(state: State, task: Task, id: RpcId): void {
  const { send, clock } = state;
  if (task.isStateful && isOver(task))
    return send(
      errorLine(id, { code: INVALID_PARAMS, message: "Cannot cancel the task: it is over" }),
    );
  // What its server has goes on; a client with sessions is told nothing of it any more.
  if (!isOver(task) && (task.giveUp() || task.isStateful)) {
    task.status = "cancelled";
    task.message = "The client canceled it";
    task.updatedMs = clock.now();
    if (task.isOpen) void task.pending.withdraw("the client canceled the task");
    for (const waiter of task.waiters) answerResult(state, task, waiter);
    task.waiters.clear();
  }
  return send(task.isStateful ? shownTask(id, task) : resultLine(id, { resultType: "complete" }));
}

function askResult(state: State, task: Task, id: RpcId): void {
  if (isOver(task)) return answerResult(state, task, id);
  if (task.waiters.size < WAITERS_MAX) return void task.waiters.add(id);
  const message = `Cannot wait for the task's result: ${WAITERS_MAX} requests wait already`;
  return state.send(errorLine(id, { code: INVALID_REQUEST, message }));
}

/** Answers a request about a task of ours; the request as its server gets it, where that has it. */
function takeAbout(state: State, task: Task, request: ClientRequest): ClientRequest | undefined {
  const { id, method, params, line } = request;
  if (!task.isStateful && !featuresOfRequest(params).tasks) {
    const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
    const message = "Missing required client capability";
    state.send(errorLine(id, { code: MISSING_CAPABILITY, message, data }));
    return undefined;
  }
  if (task.alias !== undefined && isRecord(params)) {
    state.passed.set(id, task.taskId);
    const taskId = task.alias;
    return {
      ...request,
      params: { ...params, taskId },
      line: replaceValues(line, [{ path: ["params", "taskId"], value: taskId }]),
    };
  }
  if (method === "tasks/get") state.send(shownTask(id, task));
  else if (method === "tasks/cancel") cancel(state, task, id);
  else if (method === "tasks/result") askResult(state, task, id);
  // Nothing is asked of the client through a task, so there is nothing to take.
  else state.send(resultLine(id, { resultType: "complete" }));
  return undefined;
}

const METHODS: ReadonlySet<string> = new Set(["tasks/get", "tasks/cancel", "tasks/update"]);

function makeTask({ pending, isStateful, message, giveUp }: TaskParts, nowMs: number): Task {
  return {
    taskId: `acp-${randomBytes(24).toString("base64url")}`,
    isStateful,
    createdMs: nowMs,
    updatedMs: nowMs,
    ttlMs: Math.max(0, pending.expiresAtMs - nowMs) + KEPT_MS,
    status: "working",
    message,
    answer: undefined,
    pending,
    giveUp,
    isOpen: true,
    alias: undefined,
    waiters: new Set(),
  };
}

/** No tasks yet. */
export function createOwnTasks(clock: Clock, send: (line: Buffer) => void): OwnTasks {
  const state: State = { clock, send, tasks: new Map(), passed: new Map() };
  const { tasks, passed } = state;
  return {
    open(parts) {
      sweep(state, true);
      if (tasks.size >= TASKS_MAX) return undefined;
      const task = makeTask(parts, clock.now());
      tasks.set(task.taskId, task);
      return {
        created: createdTask(task),
        decided() {
          task.isOpen = false;
          task.message = "The question is answered; the call goes on";
        },
        deliver: (line) => finish(state, task, line),
      };
    },
    take(request) {
      const { method, params } = request;
      const id = isRecord(params) ? params["taskId"] : undefined;
      const task = typeof id === "string" ? tasks.get(id) : undefined;
      if (task === undefined || task.isStateful === isStateless(params)) return request;
      if (isOld(task, clock.now())) return request;
      if (!METHODS.has(method) && !(task.isStateful && method === "tasks/result")) return request;
      return takeAbout(state, task, request);
    },
    forget({ params }) {
      const id = isRecord(params) ? params["requestId"] : undefined;
      if (typeof id !== "string" && typeof id !== "number") return;
      passed.delete(id);
      for (const { waiters } of tasks.values()) waiters.delete(id);
    },
    hears(line) {
      if (passed.size === 0) return line;
      const { kind, id } = readServerLine(line);
      const taskId = kind === "response" && id !== undefined ? passed.get(id) : undefined;
      if (id === undefined || taskId === undefined) return line;
      passed.delete(id);
      return renamedTask(taskId, line);
    },
    clear() {
      tasks.clear();
      passed.clear();
    },
  };
}

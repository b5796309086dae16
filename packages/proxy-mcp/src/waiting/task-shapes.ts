/**
 * Task shapes: how the proxy's own tasks are written. Stateful clients (2025-11-25) and the extension
 * `io.modelcontextprotocol/tasks` have the same states under other names. Sources: MCP 2025-11-25,
 * "Tasks"; ext-tasks 2026-07-28.
 */
import { isoTime } from "@acp/core";
import { findValue, replaceValues, textOf } from "../json-walk.js";
import type { RpcId } from "../rpc.js";

/** A task, as far as a client sees it. */
export interface TaskState {
  readonly taskId: string;
  /** Whether its client has sessions. */
  readonly isStateful: boolean;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly ttlMs: number;
  readonly status: "working" | "completed" | "failed" | "cancelled";
  /** For people and models. */
  readonly message: string;
  /** The call's own answer, once there is one. */
  readonly answer: Buffer | undefined;
}

/** How often a client should ask, in milliseconds. */
const POLL_MS = 5_000;
const OPEN_OBJECT = 0x7b;
const RELATED = "io.modelcontextprotocol/related-task";

function fieldsOf(task: TaskState): Readonly<Record<string, unknown>> {
  const { taskId, status, message: statusMessage, createdMs, updatedMs, ttlMs } = task;
  return {
    taskId,
    status,
    statusMessage,
    createdAt: isoTime(createdMs),
    lastUpdatedAt: isoTime(updatedMs),
    ...(task.isStateful
      ? { ttl: ttlMs, pollInterval: POLL_MS }
      : { ttlMs, pollIntervalMs: POLL_MS }),
  };
}

/** The result in place of the call's. */
export function createdTask(task: TaskState): Readonly<Record<string, unknown>> {
  return task.isStateful ? { task: fieldsOf(task) } : { resultType: "task", ...fieldsOf(task) };
}

/** The answer to `tasks/get`, and to a stateful client's `tasks/cancel`. */
export function shownTask(id: RpcId, task: TaskState): Buffer {
  const fields = task.isStateful ? fieldsOf(task) : { resultType: "complete", ...fieldsOf(task) };
  const line = (more: string): Buffer =>
    Buffer.from(
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${JSON.stringify(fields).slice(1, -1)}${more}}}\n`,
    );
  const { answer } = task;
  if (task.isStateful || answer === undefined || task.status === "working") return line("");
  const member = task.status === "failed" ? "error" : "result";
  const span = findValue(answer, [member]);
  return line(span === undefined ? "" : `,"${member}":${textOf(answer, span)}`);
}

/** The call's answer under another id, naming the task that it was. */
export function taskResult(id: RpcId, taskId: string, answer: Buffer): Buffer {
  const line = replaceValues(answer, [{ path: ["id"], value: id }]);
  const result = findValue(line, ["result"]);
  if (result === undefined || line[result.start] !== OPEN_OBJECT) return line;
  const related = { [RELATED]: { taskId } };
  const meta = findValue(line, ["result", "_meta"]);
  if (meta !== undefined && line[meta.start] !== OPEN_OBJECT) return line;
  const at = (meta ?? result).start + 1;
  const isEmpty = textOf(line, meta ?? result).replaceAll(/\s/gu, "") === "{}";
  const text = JSON.stringify(meta === undefined ? { _meta: related } : related).slice(1, -1);
  return Buffer.concat([
    line.subarray(0, at),
    Buffer.from(`${text}${isEmpty ? "" : ","}`),
    line.subarray(at),
  ]);
}

/** An answer about a server's task as one about ours. */
export function renamedTask(taskId: string, line: Buffer): Buffer {
  return replaceValues(line, [
    { path: ["result", "taskId"], value: taskId },
    { path: ["result", "_meta", RELATED, "taskId"], value: taskId },
  ]);
}

/**
 * Tasks: whose they are. A task belongs to the side that asked for it and to the server, or client,
 * that made it: it is learnt from the answer to a judged request, and from nothing else. Rules:
 * spec/mcp-proxy.md §18.
 */
import { elementsOf, findValue, splice, textOf } from "../json-walk.js";
import { ROUTES_MAX } from "../limits.js";
import { isRecord, membersOfLine, resultOf } from "../message.js";

/** The tasks that one side knows of. */
export interface Tasks<T> {
  /** Takes the answer to a judged request. */
  learn(owner: T, line: Buffer): void;
  /** Who made a task; `undefined` where nobody did, or two say so. */
  ownerOf(taskId: unknown): T | undefined;
  /** The answer to `tasks/list` without those of others. */
  keepOwn(owner: T, line: Buffer): Buffer;
}

/** Characters of an id; a longer one is nobody's. */
const TASK_ID_CHARS_MAX = 1_024;
const FLAT = '"taskId"';

/** No tasks yet. */
export function createTasks<T>(tasksMax: number = ROUTES_MAX): Tasks<T> {
  const owners = new Map<string, T | undefined>();
  const ownerOf = (taskId: unknown): T | undefined =>
    typeof taskId === "string" ? owners.get(taskId) : undefined;
  return {
    learn(owner, line): void {
      const span = membersOfLine(line)?.get("result.task");
      const task = span === undefined ? flatTask(line) : parse(textOf(line, span));
      if (!isRecord(task) || typeof task["taskId"] !== "string") return;
      const { taskId } = task;
      if (taskId.length > TASK_ID_CHARS_MAX) return;
      owners.set(taskId, owners.has(taskId) && owners.get(taskId) !== owner ? undefined : owner);
      if (owners.size <= tasksMax) return;
      for (const oldest of owners.keys()) {
        owners.delete(oldest);
        return;
      }
    },
    ownerOf,
    keepOwn: (owner, line) =>
      keepItems(line, "tasks", (task) => isRecord(task) && ownerOf(task["taskId"]) === owner),
  };
}

/** An answer with only some of the items of its list; the very same bytes where all are kept. */
export function keepItems(
  line: Buffer,
  member: string,
  isKept: (item: unknown) => boolean,
): Buffer {
  const list = findValue(line, ["result", member]);
  const items = list === undefined ? undefined : elementsOf(line, list);
  if (list === undefined || items === undefined) return line;
  const texts = items.map((item) => textOf(line, item));
  const kept = texts.filter((text) => isKept(parse(text)));
  if (kept.length === texts.length) return line;
  return splice(line, [{ ...list, text: `[${kept.join(",")}]` }]);
}

/** As the tasks extension of the stateless era has it: the result itself is the task. */
function flatTask(line: Buffer): unknown {
  if (!line.includes(FLAT)) return undefined;
  const result = resultOf(line);
  return isRecord(result) && result["resultType"] === "task" ? result : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

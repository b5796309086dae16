/**
 * Methods: which requests beside `tools/call` the gate judges, and which go on without. What is not
 * known is judged: a server may do anything in a method of its own. Rules: spec/mcp-proxy.md §18.
 */
import { fold } from "../fold.js";

/** About the connection, what there is, or what was judged when it was asked for. */
const FREE: ReadonlySet<string> = new Set([
  "initialize",
  "ping",
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/unsubscribe",
  "logging/setLevel",
]);

/** They belong to whoever made the task. */
const OF_TASKS: ReadonlySet<string> = new Set([
  "tasks/get",
  "tasks/result",
  "tasks/cancel",
  "tasks/update",
]);

/** What a server may ask of its client, if a rule names it. */
const OF_SERVERS: ReadonlySet<string> = new Set([
  "sampling/createMessage",
  "elicitation/create",
  "roots/list",
]);

const JUDGED = [
  "tools/call",
  "resources/read",
  "resources/subscribe",
  "subscriptions/listen",
  "prompts/get",
  "completion/complete",
];

const NOTIFICATION = "notifications/";

/** Requests by their names as readers see them that ignore case. */
const KNOWN: ReadonlyMap<string, string> = new Map(
  [...FREE, ...OF_TASKS, ...OF_SERVERS, ...JUDGED, "tasks/list"].map((method) => [
    fold(method),
    method,
  ]),
);

/**
 * Whether a method would have the reserved name of a question that the proxy itself asks (§19): people
 * are told there what to run.
 */
export function isOwnQuestion(method: string): boolean {
  const shown = method.normalize("NFKC").replaceAll(/[\p{C}\p{Z}\p{M}]/gu, "");
  return fold(shown) === "authorize";
}

/** Whether the gate judges a request of the client. */
export function isJudged(method: string): boolean {
  return !FREE.has(method) && !isOfTask(method) && method !== "tasks/list";
}

/** Whether a request is about one task. */
export function isOfTask(method: string): boolean {
  return OF_TASKS.has(method);
}

/** Whether the gate judges a request that a server makes. */
export function isServersMethod(method: string): boolean {
  return OF_SERVERS.has(method);
}

/**
 * What is wrong with the method of a message; `undefined` where nothing is. A request without an id
 * could not be answered, and some servers would carry it out.
 */
export function methodProblem(method: string, hasId: boolean): string | undefined {
  const known = KNOWN.get(fold(method.trim()));
  if (known !== undefined && known !== method)
    return `its method ${JSON.stringify(method)} is not spelled "${known}"`;
  if (hasId || method.startsWith(NOTIFICATION)) return undefined;
  return `a ${known ?? "request"} without an id could not be answered`;
}

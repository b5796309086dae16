/**
 * Reserved names: requests of MCP beside `tools/call`, as tool calls. `mcp:` and the method, e.g.
 * `mcp:resources/read`; no tool of a server has such a name. Pure. Format: spec/action.md §7.
 * Vectors: spec/vectors/actions.json.
 */
import { isToolAction } from "./action.js";
import type { Action } from "./action.js";

const PREFIX = "mcp:";
/** A name pattern that names what it is about: a wildcard alone covers no request of a server. */
const NAMING = /^mcp:[a-z]+\//;

/** What a server asks of its client, and what the person is told of it. */
const SERVER_STARTED: ReadonlyMap<string, string> = new Map([
  [
    "mcp:sampling/createMessage",
    "the server asks for an answer of the agent's model, which may see what the agent sees and may cost money",
  ],
  [
    "mcp:elicitation/create",
    "the server asks the person at the agent; what that person answers, or opens, goes to the server",
  ],
  ["mcp:roots/list", "the server asks which folders the agent's client works in"],
]);

/** The name that stands for requests of an MCP method other than `tools/call`. */
export function reservedName(method: string): string {
  return PREFIX + method;
}

/**
 * Whether a tool's name is one that requests of MCP have, in any case: a server that lists a tool of
 * such a name means to be taken for something else.
 */
export function isReservedName(name: string): boolean {
  return name.trim().slice(0, PREFIX.length).toLowerCase() === PREFIX;
}

/** What a person is told of a request that a server started; `undefined` for everything else. */
export function remarkOnServerRequest(name: string): string | undefined {
  return SERVER_STARTED.get(name);
}

/**
 * Whether an action is what a server asks of its client. Only a rule that names it allows it, and
 * where no rule matches, it is denied.
 */
export function isServerStarted(action: Action): boolean {
  return isToolAction(action) && SERVER_STARTED.has(action.name);
}

/** Whether a name pattern names requests of a server, rather than covering them by a wildcard. */
export function namesRequests(pattern: unknown): boolean {
  return typeof pattern === "string" && NAMING.test(pattern);
}

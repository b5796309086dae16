/**
 * Messages: what a thin client must know of MCP's lines to keep its own client going when a resident
 * ends: which requests wait for an answer, and how an answer of our own looks. Imports nothing.
 */

/** What a line is. */
export interface Line {
  /** Ids of requests in it. */
  readonly requests: readonly Id[];
  /** Ids of answers in it. */
  readonly answers: readonly Id[];
  /** The method of a line that is one request or notification. */
  readonly method: string | undefined;
  /** Whether it is one tool call: what may be done once, and be asked about. */
  readonly isCall: boolean;
  /** What a session keeps of a line that is one request, and the next session has to hear again. */
  readonly kept: Kept | undefined;
}

/** A setting of a session. */
export interface Kept {
  /** What a later line of the same name replaces. */
  readonly name: string;
  /** The request without its id; undefined where it ends the setting. */
  readonly message: Readonly<Record<string, unknown>> | undefined;
}

/** An id as JSON text: 1 and "1" are two. */
export type Id = string;

/** JSON-RPC's range for what a server defines itself. */
const SERVER_ERROR = -32_000;
const VERSION_DEFAULT = "2025-06-18";

/** Reads a line; what is no message has nothing in it. */
export function readLine(line: Buffer): Line {
  let value: unknown;
  try {
    value = JSON.parse(line.toString("utf8"));
  } catch {
    return { requests: [], answers: [], method: undefined, isCall: false, kept: undefined };
  }
  const messages = (Array.isArray(value) ? value : [value]).flatMap((each: unknown) =>
    typeof each === "object" && each !== null ? [each] : [],
  );
  const ids = (isRequest: boolean): readonly Id[] =>
    messages.flatMap((each) => {
      const id = "id" in each ? each.id : undefined;
      const isId = typeof id === "string" || typeof id === "number";
      return isId && "method" in each === isRequest ? [JSON.stringify(id)] : [];
    });
  const [first] = messages;
  const method =
    !Array.isArray(value) && first !== undefined && "method" in first ? first.method : undefined;
  return {
    requests: ids(true),
    answers: ids(false),
    method: typeof method === "string" ? method : undefined,
    isCall: method === "tools/call" && ids(true).length === 1,
    kept: Array.isArray(value) ? undefined : keptOf(first),
  };
}

/** The level of log messages, and subscriptions to resources. */
function keptOf(message: object | undefined): Kept | undefined {
  const { id: _, ...rest }: Readonly<Record<string, unknown>> = { ...message };
  const { method, params } = rest;
  if (method === "logging/setLevel") return { name: "level", message: rest };
  const uri = memberOf(params, "uri");
  if (typeof uri !== "string") return undefined;
  if (method === "resources/subscribe") return { name: `uri ${uri}`, message: rest };
  if (method === "resources/unsubscribe") return { name: `uri ${uri}`, message: undefined };
  return undefined;
}

/** The lists of tools, resources and prompts that a server has, as its answer to `initialize` says. */
export function listsIn(line: Buffer): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(line.toString("utf8"));
  } catch {
    return [];
  }
  const capabilities = memberOf(memberOf(value, "result"), "capabilities");
  return ["tools", "resources", "prompts"].filter(
    (name) => memberOf(capabilities, name) !== undefined,
  );
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}

/** Why a request has no other answer. */
export interface Problem {
  /** Stable. */
  readonly code: string;
  /** What happened and what to do, for people and models. */
  readonly message: string;
  readonly isRetryable: boolean;
}

/** An error as the answer to a request. */
export function errorLine(id: Id, { code, message, isRetryable }: Problem): string {
  const error = { code: SERVER_ERROR, message, data: { code, retryable: isRetryable } };
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}\n`;
}

/** An answer to `initialize` where there is nothing behind us: clients show the instructions. */
export function greetingLine(id: Id, line: Buffer, { message }: Problem): string {
  const version = /"protocolVersion"\s*:\s*"(\d{4}-\d{2}-\d{2})"/u.exec(line.toString("utf8"));
  const result = {
    protocolVersion: version?.[1] ?? VERSION_DEFAULT,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "acp", title: "ACP consent proxy (not connected)", version: "1" },
    instructions: message,
  };
  return `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result)}}\n`;
}

/** Bytes that become lines. */
export interface Lines {
  /** Takes bytes. */
  push(chunk: Buffer): void;
  /** Forgets the beginning of a line that will have no end. */
  clear(): void;
}

/** Takes bytes as they come, and calls back with each line and its line feed. */
export function createLines(
  onLine: (line: Buffer) => void,
  bytesMax: number,
  onFull: () => void,
): Lines {
  let chunks: Buffer[] = [];
  let size = 0;
  return {
    push(chunk) {
      let rest = chunk;
      for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
        const head = rest.subarray(0, end + 1);
        const line = chunks.length === 0 ? head : Buffer.concat([...chunks, head]);
        chunks = [];
        size = 0;
        rest = rest.subarray(end + 1);
        onLine(line);
      }
      if (rest.length === 0) return;
      chunks.push(rest);
      size += rest.length;
      if (size > bytesMax) onFull();
    },
    clear() {
      chunks = [];
      size = 0;
    },
  };
}

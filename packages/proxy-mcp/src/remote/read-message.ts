/** Read message: what HTTP needs to know of a message that is sent or received as it is. */
import type { RpcId } from "../rpc.js";

/** Of a message; nothing where it cannot be read. */
export interface SentMessage {
  /** Whether it is JSON that a message can be: an object, or a list of them. */
  readonly isMessage: boolean;
  readonly id?: RpcId;
  readonly method?: string;
  /** Whether it wants an answer. */
  readonly isRequest: boolean;
  /** Whether it is one: with an ID, and of no method. */
  readonly isAnswer: boolean;
  /** What it is about, where servers route by that: a tool's or prompt's name, a resource's URI. */
  readonly name?: string;
  /** Of a tool call without a session: its arguments, which servers may want as headers too. */
  readonly args?: unknown;
  /** Of a request without a session: what it says of its client. */
  readonly meta?: unknown;
  /** Of a cancellation: the request that is taken back. */
  readonly cancels?: RpcId;
  /** The version of a message that belongs to no session. */
  readonly version?: string;
  /** The version that an answer to `initialize` names. */
  readonly negotiated?: string;
}

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
/** What may stand in a header as it is. */
const PLAIN = /^[\u0020-\u007e]{1,4096}$/u;

/** Reads it. Never throws. */
export function readMessage(text: Buffer): SentMessage {
  let value: unknown;
  try {
    value = JSON.parse(text.toString("utf8"));
  } catch {
    return { isMessage: false, isRequest: false, isAnswer: false };
  }
  const [id, method, params, result] = ["id", "method", "params", "result"].map((key) =>
    memberOf(value, key),
  );
  const isId = typeof id === "string" || typeof id === "number";
  const isCall = typeof method === "string";
  const name = ["name", "uri"].map((key) => memberOf(params, key)).find(isName);
  const meta = memberOf(params, "_meta");
  const version = plain(memberOf(meta, VERSION_KEY));
  const cancels = method === CANCELLED ? memberOf(params, "requestId") : undefined;
  const negotiated = plain(memberOf(result, "protocolVersion"));
  return {
    isMessage: typeof value === "object" && value !== null,
    isRequest: isId && isCall,
    isAnswer: id !== undefined && !isCall,
    ...(isId && { id }),
    ...(isCall && PLAIN.test(method) && { method }),
    ...(name !== undefined && { name }),
    ...(version !== undefined && { version, meta }),
    ...(version !== undefined &&
      method === "tools/call" && { args: memberOf(params, "arguments") }),
    ...((typeof cancels === "string" || typeof cancels === "number") && { cancels }),
    ...(negotiated !== undefined && { negotiated }),
  };
}

const CANCELLED = "notifications/cancelled";
const NAME_CHARS_MAX = 4_096;

const isName = (value: unknown): value is string =>
  typeof value === "string" && value.length <= NAME_CHARS_MAX;

const plain = (value: unknown): string | undefined =>
  typeof value === "string" && PLAIN.test(value) && value.trim() === value ? value : undefined;

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;
}

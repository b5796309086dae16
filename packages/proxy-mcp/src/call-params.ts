/**
 * The `tools/call` request: reading what is judged, and writing what is forwarded into the bytes as received.
 */
import { isConsentError, parseJson } from "@acp/core";
import type { JsonObject, JsonValue } from "@acp/core";
import { findValue, splice, textOf } from "./json-walk.js";
import type { Splice } from "./json-walk.js";
import { isRecord, misspeltMember } from "./message.js";
import type { ClientRequest } from "./message.js";
import { INVALID_PARAMS } from "./rpc.js";
import type { RpcError, RpcId } from "./rpc.js";

/** What a tool call says. */
export interface CallParams {
  readonly tool: string;
  readonly args: JsonObject;
  readonly argumentChars: number;
  readonly progressToken: RpcId | undefined;
  /** Whether the request is one of the stateless era, which names its protocol version. */
  readonly typedResults: boolean;
  /** Whether the call asks to run as a task, which goes on after its answer. */
  readonly isTask: boolean;
}

/** What came of reading a call: its params; an error of the protocol; arguments that no gate can judge. */
export type ReadCall = { readonly call: CallParams } | { readonly error: RpcError } | { readonly invalid: string };

/** What a router changes of a call; what is left out stays as received. */
export interface CallChanges {
  readonly id?: RpcId;
  readonly tool?: string;
  readonly progressToken?: RpcId;
  readonly args?: JsonObject | undefined;
}

const MEMBERS: ReadonlySet<string> = new Set(["name", "arguments", "_meta", "task"]);
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

/** Reads a `tools/call`. */
export function readCall({ params, line }: ClientRequest): ReadCall {
  if (!isRecord(params)) return refuse("its params are not an object");
  const misspelt = misspeltMember(params, MEMBERS);
  if (misspelt !== undefined) return refuse(misspelt);
  const { name, _meta: meta } = params;
  if (typeof name !== "string") return refuse("it names no tool");
  if (params.arguments !== undefined && !isRecord(params.arguments)) return refuse("its arguments are not an object");
  const read = readArguments(line);
  if ("invalid" in read) return read;
  const token: unknown = isRecord(meta) ? meta.progressToken : undefined;
  return {
    call: {
      tool: name,
      ...read,
      progressToken: typeof token === "string" || typeof token === "number" ? token : undefined,
      typedResults: isRecord(meta) && Object.hasOwn(meta, VERSION_KEY),
      isTask: params.task !== undefined,
    },
  };
}

/** The line with some parts replaced; every other byte stays. */
export function rewriteCall(line: Buffer, { id, tool, progressToken, args }: CallChanges): Buffer {
  const splices: Splice[] = [];
  const replace = (path: readonly string[], value: unknown): boolean => {
    const span = findValue(line, path);
    if (span === undefined) return false;
    splices.push({ ...span, text: JSON.stringify(value) });
    return true;
  };
  if (id !== undefined) replace(["id"], id);
  if (tool !== undefined) replace(["params", "name"], tool);
  if (progressToken !== undefined) replace(["params", "_meta", "progressToken"], progressToken);
  if (args !== undefined && !replace(["params", "arguments"], args)) {
    // A call without arguments has at least a name in its params, so a comma follows.
    const at = (findValue(line, ["params"])?.start ?? 0) + 1;
    splices.push({ start: at, end: at, text: `"arguments":${JSON.stringify(args)},` });
  }
  return splice(
    line,
    splices.sort((one, other) => one.start - other.start),
  );
}

/** The arguments, read strictly from the bytes that are forwarded. */
function readArguments(line: Buffer): { readonly args: JsonObject; readonly argumentChars: number } | { readonly invalid: string } {
  const span = findValue(line, ["params", "arguments"]);
  if (span === undefined) return { args: {}, argumentChars: 0 };
  const text = textOf(line, span);
  try {
    const value = parseJson(text);
    return isObject(value) ? { args: value, argumentChars: text.length } : { invalid: "the arguments are not an object" };
  } catch (error) {
    if (isConsentError(error)) return { invalid: error.message };
    throw error;
  }
}

function isObject(value: JsonValue): value is JsonObject {
  return isRecord(value);
}

function refuse(why: string): { readonly error: RpcError } {
  return { error: { code: INVALID_PARAMS, message: `Cannot take the tool call: ${why}` } };
}

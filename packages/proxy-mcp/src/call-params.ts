/**
 * The `tools/call` request: reading what is judged, and writing what is forwarded into the bytes as
 * received.
 */
import { isConsentError, parseJson } from "@acp/core";
import type { JsonObject, JsonValue } from "@acp/core";
import { CALL_MEMBERS, memberProblem } from "./call-members.js";
import { findValue, hasMoreValues, replaceValues, splice, textOf } from "./json-walk.js";
import { ARGUMENT_BYTES_MAX, ARGUMENT_VALUES_MAX } from "./limits.js";
import type { Replacement } from "./json-walk.js";
import { isRecord, misspeltMember, progressTokenOf } from "./message.js";
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

/**
 * What came of reading a call: its params; an error of the protocol; arguments that no gate can
 * judge.
 */
export type ReadCall =
  | { readonly call: CallParams }
  | { readonly error: RpcError }
  | { readonly invalid: string };

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

/** Reads a `tools/call`. */
export function readCall({ params, line }: ClientRequest): ReadCall {
  if (!isRecord(params)) return refuse("its params are not an object");
  const problem = misspeltMember(params, CALL_MEMBERS) ?? memberProblem(params);
  if (problem !== undefined) return refuse(problem);
  const { name, _meta: meta } = params;
  if (typeof name !== "string") return refuse("it names no tool");
  if (params.arguments !== undefined && !isRecord(params.arguments))
    return refuse("its arguments are not an object");
  const read = readStrictly(line, ["params", "arguments"]);
  if ("invalid" in read) return read;
  return {
    call: {
      tool: name,
      ...read,
      progressToken: progressTokenOf(params),
      typedResults: isRecord(meta) && Object.hasOwn(meta, VERSION_KEY),
      isTask: params.task !== undefined,
    },
  };
}

/** The line with its arguments, and what else is given, replaced; every other byte stays. */
export function rewriteCall(
  line: Buffer,
  args: JsonObject | undefined,
  others: readonly Replacement[] = [],
): Buffer {
  const path = ["params", "arguments"];
  if (args === undefined) return replaceValues(line, others);
  if (findValue(line, path) !== undefined)
    return replaceValues(line, [...others, { path, value: args }]);
  const rewritten = replaceValues(line, others);
  // A call without arguments has at least a name in its params, so a comma follows.
  const at = (findValue(rewritten, ["params"])?.start ?? 0) + 1;
  return splice(rewritten, [{ start: at, end: at, text: `"arguments":${JSON.stringify(args)},` }]);
}

/** The object at a path, read strictly from the bytes that are forwarded; `{}` where there is none. */
export function readStrictly(
  line: Buffer,
  path: readonly string[],
): { readonly args: JsonObject; readonly argumentChars: number } | { readonly invalid: string } {
  const span = findValue(line, path);
  if (span === undefined) return { args: {}, argumentChars: 0 };
  const why = whyTooLarge(line.subarray(span.start, span.end));
  if (why !== undefined) return { invalid: `the arguments have more than ${why}` };
  const text = textOf(line, span);
  try {
    const value = parseJson(text);
    return isObject(value)
      ? { args: value, argumentChars: text.length }
      : { invalid: "the arguments are not an object" };
  } catch (error) {
    if (isConsentError(error)) return { invalid: error.message };
    throw error;
  }
}

function whyTooLarge(bytes: Buffer): string | undefined {
  if (bytes.length > ARGUMENT_BYTES_MAX) return `${ARGUMENT_BYTES_MAX} bytes`;
  return hasMoreValues(bytes, ARGUMENT_VALUES_MAX) ? `${ARGUMENT_VALUES_MAX} values` : undefined;
}

function isObject(value: JsonValue): value is JsonObject {
  return isRecord(value);
}

function refuse(why: string): { readonly error: RpcError } {
  return { error: { code: INVALID_PARAMS, message: `Cannot accept the tool call: ${why}` } };
}

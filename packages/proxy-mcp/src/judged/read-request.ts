/**
 * The requests beside `tools/call`: reading what is judged, and writing what is forwarded into the
 * bytes as received. Rules: spec/mcp-proxy.md §18.
 */
import { reservedName } from "@acp/core";
import type { JsonObject } from "@acp/core";
import { memberProblem } from "../call-members.js";
import { readStrictly } from "../call-params.js";
import type { ReadCall } from "../call-params.js";
import { replaceValues } from "../json-walk.js";
import type { Replacement } from "../json-walk.js";
import { fold } from "../fold.js";
import { isRecord, paramsOf, progressTokenOf, readServerLine } from "../message.js";
import type { ClientRequest } from "../message.js";
import { isOwnQuestion } from "./methods.js";
import { INVALID_PARAMS, METHOD_NOT_FOUND, requestLine } from "../rpc.js";

/** Members that the protocol gives a meaning of its own, whatever the method: they are not judged. */
const AROUND: readonly string[] = ["_meta", "task", "inputResponses", "requestState"];
/** Other members of params that decide what a request is about, by their folded names. */
const KNOWN: ReadonlyMap<string, string> = new Map(
  "_meta task inputResponses requestState uri name arguments ref argument context notifications messages systemPrompt includeContext maxTokens tools toolChoice mode message requestedSchema url elicitationId"
    .split(" ")
    .map((member) => [fold(member), member]),
);
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

/** Reads a request as the call of its reserved name. */
export function readRequest({
  method,
  params,
  line,
}: Pick<ClientRequest, "method" | "params" | "line">): ReadCall {
  const refuse = (why: string): ReadCall => ({
    error: { code: INVALID_PARAMS, message: `Cannot accept "${method}": ${why}` },
  });
  if (isOwnQuestion(method))
    return { error: { code: METHOD_NOT_FOUND, message: "Method not found" } };
  if (params !== undefined && !isRecord(params)) return refuse("its params are not an object");
  const given = params ?? {};
  const odd = Object.keys(given).find((key) => (KNOWN.get(fold(key)) ?? key) !== key);
  if (odd !== undefined)
    return refuse(`its member ${JSON.stringify(odd)} is not spelled "${KNOWN.get(fold(odd))}"`);
  const problem = memberProblem(pick(given, (key) => AROUND.includes(key)));
  if (problem !== undefined) return refuse(problem);
  const read = readStrictly(line, ["params"]);
  if ("invalid" in read) return read;
  const meta = given["_meta"];
  return {
    call: {
      tool: reservedName(method),
      args: argumentsOf(read.args),
      argumentChars: read.argumentChars,
      progressToken: progressTokenOf(given),
      typedResults: isRecord(meta) && Object.hasOwn(meta, VERSION_KEY),
      isTask: given["task"] !== undefined,
    },
  };
}

/** What of a request's params is judged. */
export function argumentsOf<T>(params: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return pick(params, (key) => !AROUND.includes(key));
}

function pick<T>(
  params: Readonly<Record<string, T>>,
  isWanted: (key: string) => boolean,
): Readonly<Record<string, T>> {
  const kept = Object.entries(params).filter(([key]) => isWanted(key));
  return kept.length === Object.keys(params).length ? params : Object.fromEntries(kept);
}

/** The line with other arguments, and what else is given, replaced; every other byte stays. */
export function rewriteRequest(
  line: Buffer,
  args: JsonObject | undefined,
  others: readonly Replacement[] = [],
): Buffer {
  if (args === undefined) return replaceValues(line, others);
  const params = paramsOf(line);
  const around = isRecord(params) ? pick(params, (key) => AROUND.includes(key)) : {};
  const changed = replaceValues(line, [{ path: ["params"], value: { ...args, ...around } }]);
  return replaceValues(isRecord(params) ? changed : withParams(line, args), others);
}

/** A request that came without params, which a person gave some. */
function withParams(line: Buffer, args: JsonObject): Buffer {
  const { id, method } = readServerLine(line);
  return id === undefined ? line : requestLine(id, method, args);
}

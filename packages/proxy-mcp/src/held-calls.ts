/**
 * Held calls: the tool calls under way, and how many bytes of them are held.
 */
import { DENY_CODES } from "@acp/core";
import { leaveOutMeta } from "./call-members.js";
import { deniedResult, invalidResult } from "./call-result.js";
import { readCall } from "./call-params.js";
import type { CallParams, ReadCall } from "./call-params.js";
import type { ServerFailure } from "./failure.js";
import { HELD_BYTES_MAX } from "./limits.js";
import { logText } from "./log-text.js";
import type { ClientRequest } from "./message.js";
import { errorLine, resultLine } from "./rpc.js";
import type { RpcId } from "./rpc.js";
import { startCall } from "./tool-call.js";
import type { CallJob, CallParts, ToolCall } from "./tool-call.js";

/** Keys that are told of in the log; an agent may make up new ones. */
const TOLD_MAX = 100;

/** What only the router knows of a call. */
export type CallRoute = Pick<
  CallJob,
  "server" | "tool" | "definition" | "forward" | "limits" | "recall"
>;

/** The calls of one client. */
export interface HeldCalls {
  /**
   * Reads a `tools/call` and starts it; `undefined` where it was answered at once.
   *
   * @param route - Where the call goes; `line` is a copy that may be kept. `undefined`: the router
   *   answered it.
   */
  start(
    request: ClientRequest,
    route: (call: CallParams, line: Buffer) => CallRoute | undefined,
    onOver: () => void,
  ): ToolCall | undefined;
  /** The client is gone; resolves when every call is forwarded or over. */
  leave(): Promise<void>;
  /**
   * The calls' server is gone; resolves when they are answered, and the log has what it can have of
   * all calls to it.
   */
  fail(failure: ServerFailure): Promise<void>;
}

/** Says in the log which key of `_meta` was left out, each once. */
function createTeller(log: CallParts["log"]): (key: string) => void {
  const told = new Set<string>();
  return (key) => {
    if (told.has(key) || told.size >= TOLD_MAX) return;
    told.add(key);
    log(
      `Left ${logText(JSON.stringify(key))} out of the _meta of a tool call: MCP does not define this key, so it could not be judged`,
    );
  };
}

/** The answer to a call that cannot be read. */
function unreadAnswer(id: RpcId, read: Exclude<ReadCall, { readonly call: unknown }>): Buffer {
  return "error" in read ? errorLine(id, read.error) : resultLine(id, invalidResult(read.invalid));
}

/** The answer to a call while others take all the memory that calls may take. */
function tooManyAnswer(id: RpcId, heldBytesMax: number): Buffer {
  return resultLine(
    id,
    deniedResult({
      decision: "deny",
      code: "too_many_pending",
      reason: `calls of more than ${heldBytesMax} bytes are waiting`,
      ...DENY_CODES.too_many_pending,
    }),
  );
}

/** No calls yet. */
export function createHeldCalls(
  parts: CallParts,
  heldBytesMax: number = HELD_BYTES_MAX,
): HeldCalls {
  const calls = new Map<ToolCall, string>();
  let heldBytes = 0;
  const tellOnce = createTeller(parts.log);
  return {
    start(request, route, onOver): ToolCall | undefined {
      const { id } = request;
      const read = readCall(request);
      if (!("call" in read)) {
        parts.send(unreadAnswer(id, read));
        return undefined;
      }
      const bytes = request.line.length;
      if (heldBytes + bytes > heldBytesMax) {
        parts.send(tooManyAnswer(id, heldBytesMax));
        return undefined;
      }
      const { line, leftOut } = leaveOutMeta(request.line, request.params);
      for (const key of leftOut) tellOnce(key);
      // A copy, because the line shares the memory of a larger chunk.
      const target = route(read.call, Buffer.from(line));
      if (target === undefined) return undefined;
      heldBytes += bytes;
      const { progressToken, typedResults, args, argumentChars } = read.call;
      const call = startCall(parts, {
        ...target,
        id,
        args,
        argumentChars,
        progressToken,
        typedResults,
        onOver: () => {
          heldBytes -= bytes;
          onOver();
        },
      });
      calls.set(call, target.server);
      void call.over.finally(() => calls.delete(call));
      return call;
    },
    async leave(): Promise<void> {
      const open = [...calls.keys()];
      for (const call of open) call.leave();
      await Promise.all(open.map((call) => call.sent));
    },
    async fail(failure): Promise<void> {
      const open = [...calls]
        .filter(([, server]) => server === failure.server)
        .map(([call]) => call);
      for (const call of open) call.fail(failure);
      await Promise.all(open.map((call) => call.over));
    },
  };
}

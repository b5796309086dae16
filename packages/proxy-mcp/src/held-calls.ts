/**
 * Held calls: the tool calls under way, and how many bytes of them are held.
 */
import { DENY_CODES } from "@acp/core";
import { deniedResult, invalidResult } from "./call-result.js";
import { readCall } from "./call-params.js";
import type { CallParams } from "./call-params.js";
import type { ServerFailure } from "./failure.js";
import { HELD_BYTES_MAX } from "./limits.js";
import type { ClientRequest } from "./message.js";
import { errorLine, resultLine } from "./rpc.js";
import { startCall } from "./tool-call.js";
import type { CallJob, CallParts, ToolCall } from "./tool-call.js";

/** What only the router knows of a call. */
export type CallRoute = Pick<CallJob, "server" | "tool" | "check" | "forward">;

/** The calls of one client. */
export interface HeldCalls {
  /**
   * Reads a `tools/call` and starts it; `undefined` where it was answered at once.
   *
   * @param route - Where the call goes; `line` is a copy that may be kept. `undefined`: the router answered it.
   */
  start(request: ClientRequest, route: (call: CallParams, line: Buffer) => CallRoute | undefined, onOver: () => void): ToolCall | undefined;
  /** The client is gone; resolves when every call is forwarded or over. */
  leave(): Promise<void>;
  /** The calls' server is gone; resolves when they are answered. */
  fail(failure: ServerFailure): Promise<void>;
}

/** No calls yet. */
export function createHeldCalls(parts: CallParts, heldBytesMax: number = HELD_BYTES_MAX): HeldCalls {
  const calls = new Map<ToolCall, string>();
  let heldBytes = 0;
  return {
    start(request, route, onOver): ToolCall | undefined {
      const { id } = request;
      const read = readCall(request);
      if ("error" in read) {
        parts.send(errorLine(id, read.error));
        return undefined;
      }
      if ("invalid" in read) {
        parts.send(resultLine(id, invalidResult(read.invalid)));
        return undefined;
      }
      const bytes = request.line.length;
      if (heldBytes + bytes > heldBytesMax) {
        const reason = `calls of more than ${heldBytesMax} bytes are waiting`;
        parts.send(resultLine(id, deniedResult({ decision: "deny", code: "too_many_pending", reason, ...DENY_CODES.too_many_pending })));
        return undefined;
      }
      // A copy, because the line shares the memory of a larger chunk.
      const target = route(read.call, Buffer.from(request.line));
      if (target === undefined) return undefined;
      heldBytes += bytes;
      const { progressToken, typedResults, args } = read.call;
      const call = startCall(parts, {
        ...target,
        id,
        args,
        progressToken,
        typedResults,
        onOver: () => {
          heldBytes -= bytes;
          calls.delete(call);
          onOver();
        },
      });
      calls.set(call, target.server);
      return call;
    },
    async leave(): Promise<void> {
      const open = [...calls.keys()];
      for (const call of open) call.leave();
      await Promise.all(open.map((call) => call.sent));
    },
    async fail(failure): Promise<void> {
      const open = [...calls].filter(([, server]) => server === failure.server).map(([call]) => call);
      for (const call of open) call.fail(failure);
      await Promise.all(open.map((call) => call.over));
    },
  };
}

/** Messages for tests of the gateway. */
import type { Message } from "../../src/protocol.js";
import { payloadOf } from "./world.js";

/** A hub's request. */
export const ask = (from: string, to: string, id: string = "m-1"): Message => ({
  id,
  from,
  to,
  action: "exec-approval-request",
  payload: payloadOf(),
});
/** A client's call. */
export const call = (from: string, to: string, id: string = "m-1"): Message => ({
  id,
  from,
  to,
  action: "request",
  payload: { requestId: "r-1", method: "resolveExecApproval", params: {} },
});
/** What a raw device got. */
export const parsed = (texts: readonly string[]): readonly Record<string, unknown>[] =>
  texts.map((text) => JSON.parse(text));

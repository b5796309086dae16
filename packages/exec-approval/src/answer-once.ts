/**
 * AnswerOnce: a call that comes twice, because its first answer was lost, gets that answer and
 * decides nothing a second time.
 */
import type { IncomingCall } from "./gateway-client.js";
import type { RpcOutcome } from "./protocol.js";

/** Answers kept: more calls than that do not wait at once. */
export const ANSWERS_KEPT_MAX = 1_024;

/** Answers each call once, however often it comes; the oldest answers are forgotten. */
export function answerOncePerCall(
  answer: (call: IncomingCall) => Promise<RpcOutcome>,
): (call: IncomingCall) => Promise<RpcOutcome> {
  const answered = new Map<string, Promise<RpcOutcome>>();
  return (call) => {
    // Neither id holds a blank.
    const key = `${call.from} ${call.payload.requestId}`;
    const outcome = answered.get(key) ?? answer(call);
    answered.set(key, outcome);
    for (const oldest of answered.keys()) {
      if (answered.size <= ANSWERS_KEPT_MAX) break;
      answered.delete(oldest);
    }
    return outcome;
  };
}

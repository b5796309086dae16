import { describe, expect, it } from "vitest";
import { ANSWERS_KEPT_MAX, answerOncePerCall } from "./answer-once.js";
import type { IncomingCall } from "./gateway-client.js";

const call = (from: string, requestId: string): IncomingCall => ({
  id: "m",
  from,
  to: "hub",
  action: "request",
  payload: { requestId, method: "m", params: {} },
});

describe("answerOncePerCall()", () => {
  it("answerOncePerCall() asks once for a call that comes again, and again for another device's of the same id", async () => {
    const asked: string[] = [];
    const answer = answerOncePerCall(async ({ from }) => {
      asked.push(from);
      return { ok: true, payload: { by: from } };
    });
    const first = await answer(call("phone", "r"));
    expect(await answer(call("phone", "r"))).toBe(first);
    expect(await answer(call("laptop", "r"))).toEqual({ ok: true, payload: { by: "laptop" } });
    expect(asked).toEqual(["phone", "laptop"]);
  });

  it("answerOncePerCall() keeps no more answers than it says, and forgets the oldest", async () => {
    let asked = 0;
    const answer = answerOncePerCall(async () => ({ ok: true, payload: { asked: ++asked } }));
    for (let at = 0; at <= ANSWERS_KEPT_MAX; at++) await answer(call("phone", `r-${at}`));
    await answer(call("phone", "r-1"));
    expect(asked).toBe(ANSWERS_KEPT_MAX + 1);
    await answer(call("phone", "r-0"));
    expect(asked).toBe(ANSWERS_KEPT_MAX + 2);
  });
});

import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { isRecord } from "../message.js";
import { requestLine, resultLine } from "../rpc.js";
import type { CallJob } from "../tool-call.js";
import type { Judging } from "./judging.js";
import { createServerRequests } from "./server-requests.js";
import type { ServerRequestsParts } from "./server-requests.js";

/** Requests of one server, and the calls that judging began for them; none ends by itself. */
function requested() {
  const begun: (CallJob & { isCancelled: boolean })[] = [];
  const replies: unknown[] = [];
  let toClient: (line: Buffer) => void = () => {};
  const judging = {
    begin(job: CallJob) {
      const call = Object.assign(job, { isCancelled: false });
      begun.push(call);
      return { cancel: () => (call.isCancelled = true) };
    },
  } as unknown as Judging;
  const clock = manualClock();
  const gate = { evaluate: () => ({ ruling: { effect: "ask" } }) };
  const parts = { clock, gate, log() {} } as unknown as ServerRequestsParts;
  const requests = createServerRequests(parts, judging);
  return {
    begun,
    replies,
    requests,
    ask: (id: number, method: string, params: object = {}) =>
      requests.take(
        {
          server: "fs",
          reply: (line) => void replies.push(JSON.parse(line.toString())),
          pass: (_, onAnswer) => void (toClient = onAnswer),
        },
        requestLine(id, method, params),
      ),
    answer: (id: number, result: object) => toClient(resultLine(id, result)),
  };
}

describe("createServerRequests()", () => {
  it("keeps a request whose id an earlier one had that is over only now", () => {
    const { begun, replies, requests, ask } = requested();
    ask(1, "elicitation/create");
    requests.cancel("fs", 1);
    ask(1, "elicitation/create", { message: "new" });
    begun[0]?.onOver();
    ask(1, "elicitation/create");
    expect(replies).toMatchObject([{ error: { message: expect.stringContaining("in use") } }]);
    requests.cancel("fs", 1);
    expect(begun.map(({ isCancelled }) => isCancelled)).toEqual([true, true]);
  });

  it.each([
    [
      "its server takes the request back",
      (of: ReturnType<typeof requested>) => of.requests.cancel("fs", 1),
    ],
    ["its server is gone", (of: ReturnType<typeof requested>) => of.requests.forget("fs")],
  ])("judges no roots any more once %s", (_, end) => {
    const of = requested();
    of.ask(1, "roots/list");
    of.begun[0]?.forward(undefined, () => {});
    of.answer(1, { roots: [] });
    expect(of.begun[1]?.isCancelled).toBe(false);
    end(of);
    expect(of.begun[1]?.isCancelled).toBe(true);
  });

  it("counts a question as open until the roots are judged", () => {
    const { begun, ask } = requested();
    for (const id of [1, 2, 3]) {
      ask(id, "roots/list", { of: id });
      begun[id - 1]?.forward(undefined, () => {});
    }
    expect(begun.map(({ args }) => isRecord(args) && args["of"])).toEqual([1, 2]);
    begun[0]?.onOver();
    expect(begun).toHaveLength(3);
  });
});

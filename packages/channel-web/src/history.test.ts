import { manualClock, sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createHistory } from "./history.js";
import type { HistoryEntry } from "./inbox-options.js";
import { createQuestions } from "./questions.js";

function setUp(told: readonly HistoryEntry[] = []) {
  const clock = manualClock();
  const questions = createQuestions(clock);
  const limits: number[] = [];
  const history = createHistory(questions, {
    history: async (limit) => {
      limits.push(limit);
      return told;
    },
  });
  const end = (id: string, text = "text") => {
    const entry = questions.put({
      carrier: { channel: "web" },
      question: { request: sampleRequest({ id, text }), redelivery: false },
      submit: async () => ({ status: "final", outcome: "approved" }),
    });
    if (entry === undefined) throw new Error("no entry");
    questions.end(entry, { status: "approved", reason: "" });
    return entry;
  };
  const idsOf = async (limit: number) =>
    (await history.list(limit)).map(({ request }) => (request as { id: string }).id);
  return { clock, questions, history, limits, end, idsOf };
}

describe("createHistory()", () => {
  it("tells what ended here, newest first, with the answers that were taken", async () => {
    const { clock, questions, history, end, idsOf } = setUp();
    const first = end("cr_1");
    await clock.advance(1);
    end("cr_2");
    questions.take(first, {
      by: { approver: "ada", subject: "ada" },
      claim: { decision: "approved" },
    });
    expect(await idsOf(10)).toEqual(["cr_2", "cr_1"]);
    expect((await history.list(10))[1]).toEqual({
      request: first.wire,
      status: "approved",
      at: clock.now() - 1,
      approvers: ["ada"],
      responses: [{ decision: "approved" }],
    });
  });

  it("puts what somebody else remembers beside it; of a question that both know, what they do", async () => {
    const nowMs = manualClock().now();
    const entry = (id: string, atMs: number): HistoryEntry => ({
      request: { id },
      status: "denied",
      atMs,
      approvers: ["log"],
      responses: [],
    });
    const { clock, history, end, idsOf, limits } = setUp([
      entry("cr_2", nowMs + 1),
      entry("cr_0", nowMs - 5),
    ]);
    end("cr_1");
    await clock.advance(1);
    end("cr_2");
    expect(await idsOf(10)).toEqual(["cr_2", "cr_1", "cr_0"]);
    expect((await history.list(10))[0]).toMatchObject({ approvers: ["log"] });
    expect(await idsOf(2)).toEqual(["cr_2", "cr_1"]);
    expect(limits).toEqual([10, 10, 2]);
  });

  it("keeps the newest five hundred, and no more than 16 Mi characters of them", async () => {
    const { clock, end, idsOf } = setUp();
    for (let n = 0; n < 501; n++) {
      end(`cr_${n}`);
      await clock.advance(1);
    }
    const ids = await idsOf(1_000);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([500, "cr_500", "cr_1"]);
    for (let n = 0; n < 9; n++) end(`cr_large_${n}`, "x".repeat(2 * 1024 * 1024));
    expect((await idsOf(1_000)).length).toBe(8);
  });
});

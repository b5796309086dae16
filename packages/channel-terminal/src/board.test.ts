import { makeResponse } from "@acp/core";
import { askDouble } from "@acp/testing";
import { describe, expect, it } from "vitest";
import type { QuestionChange } from "./approver-client.js";
import { createBoard } from "./board.js";

const yes = (request: { readonly id: string; readonly nonce: string }) =>
  makeResponse(request, { decision: "approved", nowMs: 1, channel: "terminal" });

describe("createBoard()", () => {
  it("holds questions in order until their sessions end, and tells both", async () => {
    const board = createBoard();
    const changes: QuestionChange[] = [];
    board.subscribe((change) => changes.push(change));
    const [first, second] = [askDouble(), askDouble(undefined, { redelivery: true })];
    board.put(first.request, first.session);
    board.put(second.request, second.session);
    expect(board.pending()).toEqual([
      { request: first.request, redelivery: false },
      { request: second.request, redelivery: true },
    ]);
    first.end({ status: "expired", reason: "late" });
    await first.session.ended;
    expect(board.pending().map(({ request }) => request.id)).toEqual([second.request.id]);
    expect(changes.map(({ type }) => type)).toEqual(["open", "open", "ended"]);
    expect(changes[2]).toEqual({
      type: "ended",
      id: first.request.id,
      ending: { status: "expired", reason: "late" },
    });
  });

  it("hands an answer to the question that it names, for the subject given", async () => {
    const board = createBoard();
    const [first, second] = [askDouble(), askDouble()];
    board.put(first.request, first.session);
    board.put(second.request, second.session);
    expect(await board.answer(yes(second.request), "local")).toEqual({
      status: "final",
      outcome: "approved",
    });
    expect(first.submissions).toEqual([]);
    expect(second.submissions).toMatchObject([{ subject: "local" }]);
  });

  it("refuses an answer to no question, to one that it never had and to one that is over", async () => {
    const board = createBoard();
    const ask = askDouble();
    board.put(ask.request, ask.session);
    expect(await board.answer({}, "local")).toMatchObject({ code: "response_invalid" });
    expect(await board.answer(yes({ id: "cr_other", nonce: "n" }), "local")).toMatchObject({
      code: "request_unknown",
    });
    ask.end({ status: "cancelled", reason: "" });
    await ask.session.ended;
    expect(await board.answer(yes(ask.request), "local")).toMatchObject({ code: "request_ended" });
    expect(ask.submissions).toEqual([]);
  });

  it("keeps a redelivered question when its first session ends", async () => {
    const board = createBoard();
    const first = askDouble();
    const second = askDouble(first.request, { redelivery: true });
    board.put(first.request, first.session);
    board.put(second.request, second.session);
    first.end({ status: "failed", reason: "" });
    await first.session.ended;
    expect(board.pending()).toEqual([{ request: first.request, redelivery: true }]);
  });

  it("tells nobody who left", async () => {
    const board = createBoard();
    const changes: QuestionChange[] = [];
    board.subscribe((change) => changes.push(change))();
    const ask = askDouble();
    board.put(ask.request, ask.session);
    expect(changes).toEqual([]);
  });
});

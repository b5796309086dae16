import { type AnswerReceipt, type JsonObject, parseResponse } from "@acp/core";
import { sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { setUp, settled } from "../test/setup.js";
import type { QuestionChange, QuestionSource } from "./question-source.js";

/** Gates elsewhere with one open question, that take every answer. */
function gates() {
  const request = sampleRequest({ createdAtMs: setUp().clock.now() });
  const claims: JsonObject[] = [];
  let end: (result: IteratorResult<QuestionChange>) => void = () => undefined;
  const source: QuestionSource = {
    pending: () => [{ request, redelivery: true }],
    changes: {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise((resolve) => void (end = resolve)),
      }),
    },
    async answer(claim): Promise<AnswerReceipt> {
      claims.push(claim);
      return { status: "final", outcome: "approved" };
    },
  };
  return { request, claims, source, end: () => end({ done: true, value: undefined }) };
}

describe("createInbox()", () => {
  it("shows the questions of several gates on one page, each answered where it came from", async () => {
    const { inbox, ask, signedIn } = setUp({
      people: [{ approver: "ada", subject: "local" }, { approver: "bob" }],
    });
    const elsewhere = gates();
    inbox.attach(elsewhere.source, { channel: "terminal" });
    const here = await ask();
    await settled();
    const page = await signedIn();
    const hello = await (await page.events()).next();
    expect(hello).toMatchObject({
      data: {
        open: [
          { channel: "terminal", redelivery: true, may_answer: true },
          { channel: "web", may_answer: true },
        ],
      },
    });
    const { body } = await page.post("/api/answers/prepare", {
      request_id: elsewhere.request.id,
      decision: "approved",
    });
    expect((await page.post("/api/answers", { ticket: body.ticket })).status).toBe(200);
    expect(elsewhere.claims).toMatchObject([{ approver: { id: "ada", channel: "terminal" } }]);
    expect(parseResponse(elsewhere.claims[0]).requestId).toBe(elsewhere.request.id);
    expect(here.submissions).toEqual([]);
  });

  it("lets nobody answer there but whom those gates know", async () => {
    const { inbox, signedIn } = setUp({
      people: [{ approver: "ada", subject: "local" }, { approver: "bob" }],
    });
    const { source, request, claims } = gates();
    inbox.attach(source, { channel: "terminal" });
    const page = await signedIn("bob");
    expect(await (await page.events()).next()).toMatchObject({
      data: { open: [{ may_answer: false }] },
    });
    const item = { request_id: request.id, action_digest: request.actionDigest };
    expect(
      await page.post("/api/answers/prepare", { request_id: request.id, decision: "denied" }),
    ).toMatchObject({ status: 403 });
    expect(
      (await page.post("/api/answers/batch", { items: [item], decision: "denied" })).body.receipts,
    ).toMatchObject([{ receipt: { status: "refused" } }]);
    expect(claims).toEqual([]);
  });

  it("takes the questions of a gate down that is lost, and does not say how they ended", async () => {
    const { inbox, signedIn } = setUp();
    const { source, end } = gates();
    inbox.attach(source, { channel: "terminal" });
    const stream = await (await signedIn()).events();
    await stream.next();
    await settled();
    end();
    expect(await stream.next()).toMatchObject({
      event: "lost",
      data: { id: expect.any(String) as string },
    });
  });

  it("attaches nothing after it closed", async () => {
    const { inbox } = setUp();
    await inbox.close();
    let isAsked = false;
    const { source } = gates();
    inbox.attach({ ...source, pending: () => ((isAsked = true), []) }, { channel: "terminal" });
    await settled();
    expect(isAsked).toBe(false);
  });
});

import { decodeRequest, encodeRequest, makeResponse } from "@acp/core";
import { describe, expect, it } from "vitest";
import { askDouble, sampleRequest } from "./ask-double.js";

const yes = (request: { readonly id: string; readonly nonce: string }) =>
  makeResponse(request, { decision: "approved", nowMs: 1, channel: "test" });

describe("askDouble()", () => {
  it("takes the first good answer and refuses what comes after", async () => {
    const ask = askDouble();
    expect(await ask.session.submit(yes(ask.request))).toEqual({
      status: "final",
      outcome: "approved",
    });
    expect(await ask.session.submit(yes(ask.request))).toMatchObject({
      status: "refused",
      code: "request_ended",
    });
    expect(await ask.session.ended).toEqual({ status: "approved", reason: "" });
  });

  it.each([
    [
      "another question's answer",
      "request_unknown",
      (ask: ReturnType<typeof askDouble>) => yes({ ...ask.request, id: "cr_other" }),
    ],
    [
      "a foreign nonce",
      "nonce_mismatch",
      (ask: ReturnType<typeof askDouble>) => yes({ ...ask.request, nonce: "n_other" }),
    ],
    ["what is no answer", "response_invalid", () => "approved"],
  ])("refuses %s and stays open", async (_what, code, claim) => {
    const ask = askDouble();
    expect(await ask.session.submit(claim(ask))).toMatchObject({ status: "refused", code });
    expect(ask.ending()).toBeUndefined();
    expect(ask.submissions).toHaveLength(1);
  });

  it("refuses a yes without the word where the question takes one, and no no", async () => {
    const policy = { ...sampleRequest().policy, requiredLevel: "critical" } as const;
    const ask = askDouble(sampleRequest({ policy }));
    expect(await ask.session.submit(yes(ask.request))).toMatchObject({
      status: "refused",
      code: "confirmation_required",
    });
    expect(
      await ask.session.submit({ ...yes(ask.request), confirmation: "approve" }),
    ).toMatchObject({ status: "final" });
    const other = askDouble(sampleRequest({ policy }));
    expect(await other.session.submit({ ...yes(other.request), decision: "denied" })).toMatchObject(
      { status: "final" },
    );
  });

  it("refuses a stranger where subjects are named", async () => {
    const ask = askDouble(undefined, { subjects: ["4711"] });
    expect(await ask.session.submit(yes(ask.request), { subject: "4712" })).toMatchObject({
      code: "approver_unknown",
    });
    expect(await ask.session.submit(yes(ask.request), { subject: "4711" })).toMatchObject({
      status: "final",
    });
  });
});

describe("sampleRequest()", () => {
  it("makes a question that has a wire form", () => {
    const request = sampleRequest();
    expect(decodeRequest(encodeRequest(request))).toEqual(request);
  });
});

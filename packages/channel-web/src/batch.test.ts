import type { ConsentRequest } from "@acp/core";
import { describe, expect, it } from "vitest";
import { passkeyOf } from "../test/keys.js";
import { ofLevel, setUp, settled } from "../test/setup.js";
import { memoryPasskeys } from "./memory-passkeys.js";

const itemOf = ({ id, actionDigest }: ConsentRequest) => ({
  request_id: id,
  action_digest: actionDigest,
});

describe("POST /api/answers/batch", () => {
  it("gives each question an answer of its own", async () => {
    const { ask, signedIn } = setUp();
    const asked = [await ask(), await ask()];
    const left = await ask();
    const page = await signedIn();
    const answered = await page.post("/api/answers/batch", {
      items: asked.map(({ request }) => itemOf(request)),
      decision: "approved",
      reason: "all fine",
    });
    expect(answered.body.receipts).toEqual(
      asked.map(({ request }) => ({
        request_id: request.id,
        receipt: { status: "final", outcome: "approved" },
      })),
    );
    for (const { request, submissions } of asked)
      expect(submissions).toMatchObject([
        {
          subject: "ada",
          claim: {
            request_id: request.id,
            nonce: request.nonce,
            reason: "all fine",
            approver: { id: "ada" },
          },
        },
      ]);
    expect(left.submissions).toEqual([]);
  });

  it.each([
    ["a passkey's", { evidence: "passkey" }, "passkey_required"],
    ["a high one's", ofLevel("high"), "passkey_required"],
    ["another's", { approvers: ["bob"] }, "approver_not_allowed"],
  ] as const)("refuses a yes that is %s, and takes the rest", async (_what, overrides, code) => {
    const { ask, signedIn } = setUp({ passkeys: memoryPasskeys([passkeyOf("ada")]) });
    const [one, plain] = [await ask(overrides), await ask()];
    const items = [one, plain].map(({ request }) => itemOf(request));
    const { body } = await (await signedIn()).post("/api/answers/batch", {
      items,
      decision: "approved",
    });
    expect(body.receipts.map(({ receipt }) => receipt.code ?? receipt.status)).toEqual([
      code,
      "final",
    ]);
    expect([one.submissions.length, plain.submissions.length]).toEqual([0, 1]);
  });

  it("refuses a yes that takes a word", async () => {
    const { ask, signedIn } = setUp({ passkeyFrom: "rules-only" });
    const asked = await ask(ofLevel("critical"));
    const { body } = await (await signedIn()).post("/api/answers/batch", {
      items: [itemOf(asked.request)],
      decision: "approved",
    });
    expect(body.receipts).toMatchObject([{ receipt: { code: "confirmation_required" } }]);
    expect(asked.submissions).toEqual([]);
  });

  it("takes a no to any of them", async () => {
    const { ask, signedIn } = setUp();
    const asked = await ask({ ...ofLevel("critical"), evidence: "passkey" });
    const { body } = await (await signedIn()).post("/api/answers/batch", {
      items: [itemOf(asked.request)],
      decision: "denied",
    });
    expect(body.receipts).toMatchObject([{ receipt: { status: "final", outcome: "denied" } }]);
  });

  it("refuses what the page did not show: another action's digest, a question that is over", async () => {
    const { ask, signedIn } = setUp();
    const [asked, over] = [await ask(), await ask()];
    over.end({ status: "expired", reason: "" });
    await settled();
    const items = [
      { ...itemOf(asked.request), action_digest: `sha256:${"1".repeat(64)}` },
      itemOf(over.request),
      { request_id: "cr_x", action_digest: "" },
    ];
    const { body } = await (await signedIn()).post("/api/answers/batch", {
      items,
      decision: "approved",
    });
    expect(body.receipts.map(({ receipt }) => receipt.code)).toEqual([
      "nonce_mismatch",
      "request_ended",
      "request_ended",
    ]);
    expect(asked.ending()).toBeUndefined();
  });

  it.each([
    [
      "two answers to one question",
      (item: object) => ({ items: [item, item], decision: "denied" }),
      "answer_invalid",
    ],
    [
      "more than a hundred",
      (item: object) => ({
        items: Array.from({ length: 101 }, (_, n) => ({ ...item, request_id: `cr_${n}` })),
        decision: "denied",
      }),
      "answer_invalid",
    ],
    [
      "changes",
      (item: object) => ({ items: [item], decision: "approved_with_modifications" }),
      "body_invalid",
    ],
    [
      "an unknown key in an item",
      (item: object) => ({ items: [{ ...item, word: "approve" }], decision: "approved" }),
      "body_invalid",
    ],
    ["no list", (item: object) => ({ items: item, decision: "approved" }), "body_invalid"],
    ["no items", () => ({ decision: "approved" }), "body_invalid"],
  ])("refuses %s whole", async (_what, bodyOf, code) => {
    const { ask, signedIn } = setUp();
    const asked = await ask();
    expect(
      await (await signedIn()).post("/api/answers/batch", bodyOf(itemOf(asked.request))),
    ).toMatchObject({
      status: 400,
      body: { code },
    });
    expect(asked.submissions).toEqual([]);
  });
});

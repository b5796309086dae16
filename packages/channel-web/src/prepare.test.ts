import { encodeRequest, isoTime } from "@acp/core";
import { consentPayload } from "@acp/core/proof";
import { describe, expect, it } from "vitest";
import { passkeyOf } from "../test/keys.js";
import { prepare } from "../test/page.js";
import { ofLevel, setUp } from "../test/setup.js";
import { memoryPasskeys } from "./memory-passkeys.js";

const MINUTE_MS = 60_000;
const keys = () => memoryPasskeys([passkeyOf("ada", "k1"), passkeyOf("bob", "k2")]);

describe("POST /api/answers/prepare", () => {
  it("makes the answer that is signed, and its hash", async () => {
    const { ask, signedIn, clock } = setUp();
    const { request, submissions } = await ask();
    const { status, body } = await prepare(await signedIn(), request, { reason: "fine" });
    expect(status).toBe(200);
    expect(body.response).toEqual({
      type: "consent_response",
      version: "0.2.0",
      request_id: request.id,
      timestamp: isoTime(clock.now()),
      decision: "approved",
      approver: { id: "ada", channel: "web" },
      modifications: null,
      conditions: { valid_until: isoTime(clock.now() + 5 * MINUTE_MS), single_use: true },
      nonce: request.nonce,
      reason: "fine",
    });
    expect(body.payload_hash).toBe(consentPayload(body.response, encodeRequest(request)).hash);
    expect(body.passkey).toBeNull();
    expect(submissions).toEqual([]);
  });

  it("makes a yes of several hold until five minutes after the question's end", async () => {
    const { ask, signedIn } = setUp();
    const { request } = await ask({ quorum: 2 });
    const { body } = await prepare(await signedIn(), request);
    expect(body.response.conditions.valid_until).toBe(isoTime(request.expiresAtMs + 5 * MINUTE_MS));
  });

  it("puts no answer before its question where the clock went back", async () => {
    const { ask, signedIn, clock } = setUp();
    const page = await signedIn();
    const { request } = await ask();
    clock.jump(-5_000);
    expect((await prepare(page, request)).body.response.timestamp).toBe(
      isoTime(request.createdAtMs),
    );
  });

  it("asks for a passkey from the level on, by the challenge of this very answer and of this person", async () => {
    const { ask, signedIn } = setUp({ passkeys: keys() });
    const { request } = await ask(ofLevel("high"));
    const { body } = await prepare(await signedIn(), request);
    const hash = Buffer.from(body.payload_hash.slice("sha256:".length), "hex");
    expect(Buffer.from(body.passkey.challenge, "base64url").equals(hash)).toBe(true);
    expect(body.passkey.allowCredentials).toEqual([{ id: "k1" }]);
  });

  it("asks for none for a no", async () => {
    const { ask, signedIn } = setUp();
    const { request } = await ask({ ...ofLevel("critical"), evidence: "passkey" });
    expect(await prepare(await signedIn(), request, { decision: "denied" })).toMatchObject({
      status: 200,
      body: { passkey: null },
    });
  });

  it.each([
    ["a question that is over", 409, "question_ended", {}, { request_id: "cr_x" }],
    ["who is not among its approvers", 403, "not_an_approver", { approvers: ["bob"] }, {}],
    ["who has no passkey", 403, "passkey_missing", { evidence: "passkey" }, {}],
    ["an offer that is not there", 400, "answer_invalid", {}, { grant: "g1" }],
    ["a no with an offer", 400, "answer_invalid", {}, { decision: "denied", grant: "g1" }],
    ["modifications with a plain yes", 400, "answer_invalid", {}, { modifications: {} }],
    [
      "modifications with a no",
      400,
      "answer_invalid",
      {},
      { decision: "denied", modifications: {} },
    ],
    [
      "changes without modifications",
      400,
      "answer_invalid",
      {},
      { decision: "approved_with_modifications" },
    ],
    ["a critical yes without its word", 400, "answer_invalid", ofLevel("critical"), {}],
    [
      "a critical yes with another word",
      400,
      "answer_invalid",
      ofLevel("critical"),
      { word: "APPROVE" },
    ],
    ["another decision", 400, "body_invalid", {}, { decision: "yes" }],
    ["an unknown key", 400, "body_invalid", {}, { approved: true }],
    ["a reason that is too long", 400, "body_invalid", {}, { reason: "x".repeat(1_001) }],
  ] as const)("refuses %s", async (_what, status, code, overrides, more) => {
    const { ask, signedIn } = setUp({ passkeys: memoryPasskeys() });
    const { request, submissions, ending } = await ask(overrides);
    expect(await prepare(await signedIn(), request, more)).toMatchObject({
      status,
      body: { code },
    });
    expect([submissions, ending()]).toEqual([[], undefined]);
  });

  it("leaves to the gate when a question's time is over", async () => {
    const { ask, signedIn, clock } = setUp();
    const { request } = await ask();
    clock.jump(request.expiresAtMs - clock.now());
    expect((await prepare(await signedIn(), request)).status).toBe(200);
  });

  it("takes a word for a yes alone, and where one is wanted", async () => {
    const { ask, signedIn } = setUp({ passkeyFrom: "rules-only" });
    const page = await signedIn();
    const [plain, critical] = [(await ask()).request, (await ask(ofLevel("critical"))).request];
    expect((await prepare(page, plain, { word: "approve" })).body.response).not.toHaveProperty(
      "confirmation",
    );
    expect(
      (await prepare(page, critical, { decision: "denied", word: "approve" })).body.response,
    ).not.toHaveProperty("confirmation");
    expect((await prepare(page, critical, { word: "approve" })).body.response).toMatchObject({
      confirmation: "approve",
    });
  });
});

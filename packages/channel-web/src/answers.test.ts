import { type ConsentRequest, parseResponse, requestHash } from "@acp/core";
import { consentPayload } from "@acp/core/proof";
import { encodeRequest, isoTime } from "@acp/core";
import { describe, expect, it } from "vitest";
import { answerTo, passkeyOf } from "../test/keys.js";
import type { Page } from "../test/page.js";
import { ofLevel, setUp, settled } from "../test/setup.js";
import { memoryPasskeys } from "./memory-passkeys.js";

const MINUTE_MS = 60_000;
const keys = () => memoryPasskeys([passkeyOf("ada", "k1"), passkeyOf("bob", "k2")]);

const prepare = (page: Page, { id }: ConsentRequest, more: object = {}) =>
  page.post("/api/answers/prepare", { request_id: id, decision: "approved", ...more });

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
    expect((await prepare(page, request)).body.response.timestamp).toBe(isoTime(request.createdAtMs));
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
    expect(await prepare(await signedIn(), request, { decision: "denied" })).toMatchObject({ status: 200, body: { passkey: null } });
  });

  it.each([
    ["a question that is over", 409, "question_ended", {}, { request_id: "cr_x" }],
    ["who is not among its approvers", 403, "not_an_approver", { approvers: ["bob"] }, {}],
    ["who has no passkey", 403, "passkey_missing", { evidence: "passkey" }, {}],
    ["an offer that is not there", 400, "answer_invalid", {}, { grant: "g1" }],
    ["a no with an offer", 400, "answer_invalid", {}, { decision: "denied", grant: "g1" }],
    ["modifications with a plain yes", 400, "answer_invalid", {}, { modifications: {} }],
    ["modifications with a no", 400, "answer_invalid", {}, { decision: "denied", modifications: {} }],
    ["changes without modifications", 400, "answer_invalid", {}, { decision: "approved_with_modifications" }],
    ["a critical yes without its word", 400, "answer_invalid", ofLevel("critical"), {}],
    ["a critical yes with another word", 400, "answer_invalid", ofLevel("critical"), { word: "APPROVE" }],
    ["another decision", 400, "body_invalid", {}, { decision: "yes" }],
    ["an unknown key", 400, "body_invalid", {}, { approved: true }],
    ["a reason that is too long", 400, "body_invalid", {}, { reason: "x".repeat(1_001) }],
  ] as const)("refuses %s", async (_what, status, code, overrides, more) => {
    const { ask, signedIn } = setUp({ passkeys: memoryPasskeys() });
    const { request, submissions, ending } = await ask(overrides);
    expect(await prepare(await signedIn(), request, more)).toMatchObject({ status, body: { code } });
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
    expect((await prepare(page, plain, { word: "approve" })).body.response).not.toHaveProperty("confirmation");
    expect((await prepare(page, critical, { decision: "denied", word: "approve" })).body.response).not.toHaveProperty("confirmation");
    expect((await prepare(page, critical, { word: "approve" })).body.response).toMatchObject({ confirmation: "approve" });
  });
});

describe("POST /api/answers", () => {
  it("hands the prepared answer in, once", async () => {
    const { ask, signedIn } = setUp();
    const asked = await ask();
    const page = await signedIn();
    const { body } = await prepare(page, asked.request);
    expect(await page.post("/api/answers", { ticket: body.ticket })).toMatchObject({
      status: 200,
      body: { status: "final", outcome: "approved" },
    });
    expect(asked.submissions).toMatchObject([{ claim: body.response, subject: "ada" }]);
    expect(await page.post("/api/answers", { ticket: body.ticket })).toMatchObject({ status: 410, body: { code: "ticket_unknown" } });
  });

  it("hands a ticket in once that is sent twice at once", async () => {
    const { ask, signedIn } = setUp();
    const asked = await ask();
    const page = await signedIn();
    const { ticket } = (await prepare(page, asked.request)).body;
    const answered = await Promise.all([page.post("/api/answers", { ticket }), page.post("/api/answers", { ticket })]);
    expect(answered.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 410]);
    expect(asked.submissions).toHaveLength(1);
  });

  it("takes changes and offers to the gate", async () => {
    const { ask, signedIn } = setUp();
    const page = await signedIn();
    const offers = [{ id: "g1", scope: { kind: "tool", server: "files", name: "write_file" }, ttlMs: 60_000 }] as const;
    const [changed, leased] = [await ask(), await ask({ offers })];
    const edit = await prepare(page, changed.request, { decision: "approved_with_modifications", modifications: { path: "other.txt" } });
    await page.post("/api/answers", { ticket: edit.body.ticket });
    const lease = await prepare(page, leased.request, { grant: "g1" });
    await page.post("/api/answers", { ticket: lease.body.ticket });
    expect(changed.submissions[0]?.claim).toMatchObject({ modifications: { path: "other.txt" } });
    expect(leased.submissions[0]?.claim).toMatchObject({ grant: "g1", conditions: { single_use: false } });
  });

  it("gives a yes that takes a passkey the person's own proof", async () => {
    const { ask, signedIn } = setUp({ passkeys: keys() });
    const asked = await ask(ofLevel("high"));
    const page = await signedIn();
    const { body } = await prepare(page, asked.request);
    const assertion = answerTo(body.passkey, "k1");
    expect((await page.post("/api/answers", { ticket: body.ticket, assertion })).body).toEqual({ status: "final", outcome: "approved" });
    const claim = asked.submissions[0]?.claim;
    expect(parseResponse(claim).proof).toEqual({
      algorithm: "WebAuthn",
      credential_id: "k1",
      authenticator_data: "AA",
      client_data_json: assertion.response.clientDataJSON,
      signature: "AA",
      signed_payload_hash: body.payload_hash,
      request_hash: requestHash(asked.request),
    });
    expect(claim).toMatchObject(body.response);
  });

  it.each([
    ["no assertion", "passkey_required", () => ({})],
    ["another person's passkey", "passkey_refused", (options: { challenge: string }) => ({ assertion: answerTo(options, "k2") })],
    ["an unknown passkey", "passkey_refused", (options: { challenge: string }) => ({ assertion: answerTo(options, "k9") })],
    ["another answer's challenge", "passkey_refused", () => ({ assertion: answerTo({ challenge: "A".repeat(43) }, "k1") })],
    ["an empty assertion", "passkey_refused", () => ({ assertion: {} })],
  ])("refuses %s where it takes a passkey; the question stays open, the ticket is used up", async (_what, code, more) => {
    const { ask, signedIn } = setUp({ passkeys: keys() });
    const asked = await ask({ evidence: "passkey" });
    const page = await signedIn();
    const { body } = await prepare(page, asked.request);
    expect(await page.post("/api/answers", { ticket: body.ticket, ...more(body.passkey) })).toMatchObject({ status: 403, body: { code } });
    expect([asked.submissions, asked.ending()]).toEqual([[], undefined]);
    expect((await page.post("/api/answers", { ticket: body.ticket, assertion: answerTo(body.passkey, "k1") })).status).toBe(410);
    const again = (await prepare(page, asked.request)).body;
    expect((await page.post("/api/answers", { ticket: again.ticket, assertion: answerTo(again.passkey, "k1") })).status).toBe(200);
  });

  it("refuses a passkey that was revoked between the two", async () => {
    const passkeys = keys();
    const { ask, signedIn, clock } = setUp({ passkeys });
    const asked = await ask(ofLevel("high"));
    const page = await signedIn();
    const { body } = await prepare(page, asked.request);
    await passkeys.revoke("k1", "ada", clock.now());
    expect(await page.post("/api/answers", { ticket: body.ticket, assertion: answerTo(body.passkey, "k1") })).toMatchObject({
      status: 403,
    });
    expect(asked.submissions).toEqual([]);
  });

  it("refuses a replayed assertion for another answer of the same question", async () => {
    const { ask, signedIn, clock } = setUp({ passkeys: keys() });
    const asked = await ask(ofLevel("high"));
    const page = await signedIn();
    const first = (await prepare(page, asked.request)).body;
    await clock.advance(1);
    const second = (await prepare(page, asked.request)).body;
    const assertion = answerTo(first.passkey, "k1");
    expect(await page.post("/api/answers", { ticket: second.ticket, assertion })).toMatchObject({
      status: 403,
      body: { code: "passkey_refused" },
    });
    expect(asked.submissions).toEqual([]);
  });

  it("refuses an assertion where none was asked for", async () => {
    const { ask, signedIn } = setUp({ passkeys: keys() });
    const asked = await ask();
    const page = await signedIn();
    const { ticket } = (await prepare(page, asked.request)).body;
    expect(await page.post("/api/answers", { ticket, assertion: {} })).toMatchObject({ status: 400, body: { code: "answer_invalid" } });
    expect(asked.submissions).toEqual([]);
  });

  it("lets the one who answered with a passkey add another", async () => {
    const { ask, signedIn } = setUp({ passkeys: keys() });
    const { request } = await ask(ofLevel("high"));
    const page = await signedIn();
    expect((await page.post("/api/passkeys/options", {})).status).toBe(403);
    const { body } = await prepare(page, request);
    await page.post("/api/answers", { ticket: body.ticket, assertion: answerTo(body.passkey, "k1") });
    expect((await page.post("/api/passkeys/options", {})).status).toBe(200);
  });

  it("serves no other session, also not the same person's, and none after two minutes", async () => {
    const { ask, signedIn, clock } = setUp();
    const asked = await ask();
    const [page, tab, bob] = [await signedIn(), await signedIn(), await signedIn("bob")];
    const { ticket } = (await prepare(page, asked.request)).body;
    for (const other of [tab, bob]) expect((await other.post("/api/answers", { ticket })).status).toBe(410);
    await clock.advance(120_000);
    expect((await page.post("/api/answers", { ticket })).status).toBe(410);
    expect(asked.submissions).toEqual([]);
  });

  it("says that the question is over which ended between the two", async () => {
    const { ask, signedIn } = setUp();
    const asked = await ask();
    const page = await signedIn();
    const { ticket } = (await prepare(page, asked.request)).body;
    asked.end({ status: "expired", reason: "nobody answered" });
    await settled();
    expect(await page.post("/api/answers", { ticket })).toMatchObject({ status: 409, body: { code: "question_ended" } });
  });

  it("tells every page of a yes that is counted", async () => {
    const { inbox, signedIn, clock } = setUp();
    const { askDouble, sampleRequest } = await import("@acp/testing");
    const { request, session } = askDouble(sampleRequest({ createdAtMs: clock.now(), quorum: 2 }));
    await inbox.channel().deliver(request, { ...session, submit: async () => ({ status: "counted", have: 1, need: 2 }) });
    const [page, other] = [await signedIn(), await signedIn("bob")];
    const [stream, others] = [await page.events(), await other.events()];
    const { ticket } = (await prepare(page, request)).body;
    expect((await page.post("/api/answers", { ticket })).body).toEqual({ status: "counted", have: 1, need: 2 });
    await stream.next();
    await others.next();
    expect(await stream.next()).toMatchObject({ event: "open", data: { answered: true, have: 1 } });
    expect(await others.next()).toMatchObject({ event: "open", data: { answered: false, have: 1 } });
  });

  it("hands on why the gate refused, and which question is shown instead", async () => {
    const { inbox, signedIn, clock } = setUp();
    const { askDouble, sampleRequest } = await import("@acp/testing");
    const successor = sampleRequest();
    const receipts = [
      [
        { status: "refused", code: "rate_limited", reason: "too \u202e many" },
        { status: "refused", code: "rate_limited", reason: "too \\u202e many" },
      ],
      [
        { status: "reshow", request: successor },
        { status: "reshow", request_id: successor.id },
      ],
    ] as const;
    const page = await signedIn();
    for (const [receipt, want] of receipts) {
      const { request, session } = askDouble(sampleRequest({ createdAtMs: clock.now() }));
      await inbox.channel().deliver(request, { ...session, submit: async () => receipt });
      const { ticket } = (await prepare(page, request)).body;
      expect(await page.post("/api/answers", { ticket })).toMatchObject({ status: 200, body: want });
    }
  });

  it("says that it does not know where the gate is gone before it answers", async () => {
    const { inbox, signedIn, clock, warnings } = setUp();
    const { askDouble, sampleRequest } = await import("@acp/testing");
    const { request, session } = askDouble(sampleRequest({ createdAtMs: clock.now() }));
    const submit = async (): Promise<never> => {
      throw new Error("the socket closed");
    };
    await inbox.channel().deliver(request, { ...session, submit });
    const page = await signedIn();
    const { ticket } = (await prepare(page, request)).body;
    expect(await page.post("/api/answers", { ticket })).toMatchObject({ status: 502, body: { code: "answer_unknown" } });
    expect(warnings.join()).toContain("the socket closed");
  });
});

import { ConsentError, parseResponse, requestHash } from "@acp/core";
import { askDouble, sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { answerTo, namedKeys, passkeyOf } from "../test/keys.js";
import { prepare } from "../test/page.js";
import { ofLevel, setUp, settled } from "../test/setup.js";
import { memoryPasskeys } from "./memory-passkeys.js";

const keys = () => memoryPasskeys([passkeyOf("ada", "k1"), passkeyOf("bob", "k2")]);

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
    expect(await page.post("/api/answers", { ticket: body.ticket })).toMatchObject({
      status: 410,
      body: { code: "ticket_unknown" },
    });
  });

  it("hands a ticket in once that is sent twice at once", async () => {
    const { ask, signedIn } = setUp();
    const asked = await ask();
    const page = await signedIn();
    const { ticket } = (await prepare(page, asked.request)).body;
    const answered = await Promise.all([
      page.post("/api/answers", { ticket }),
      page.post("/api/answers", { ticket }),
    ]);
    expect(answered.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 410]);
    expect(asked.submissions).toHaveLength(1);
  });

  it("takes changes and offers to the gate", async () => {
    const { ask, signedIn } = setUp();
    const page = await signedIn();
    const offers = [
      { id: "g1", scope: { kind: "tool", server: "files", name: "write_file" }, ttlMs: 60_000 },
    ] as const;
    const [changed, leased] = [await ask(), await ask({ offers })];
    const edit = await prepare(page, changed.request, {
      decision: "approved_with_modifications",
      modifications: { path: "other.txt" },
    });
    await page.post("/api/answers", { ticket: edit.body.ticket });
    const lease = await prepare(page, leased.request, { grant: "g1" });
    await page.post("/api/answers", { ticket: lease.body.ticket });
    expect(changed.submissions[0]?.claim).toMatchObject({ modifications: { path: "other.txt" } });
    expect(leased.submissions[0]?.claim).toMatchObject({
      grant: "g1",
      conditions: { single_use: false },
    });
  });

  it("gives a yes that takes a passkey the person's own proof", async () => {
    const { ask, signedIn } = setUp({ passkeys: keys() });
    const asked = await ask(ofLevel("high"));
    const page = await signedIn();
    const { body } = await prepare(page, asked.request);
    const assertion = answerTo(body.passkey, "k1");
    expect((await page.post("/api/answers", { ticket: body.ticket, assertion })).body).toEqual({
      status: "final",
      outcome: "approved",
    });
    const claim = asked.submissions[0]?.claim;
    expect(parseResponse(claim).proof).toEqual({
      algorithm: "WebAuthn",
      payload_type: "acp/consent/v2",
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
    [
      "another person's passkey",
      "passkey_refused",
      (options: { challenge: string }) => ({ assertion: answerTo(options, "k2") }),
    ],
    [
      "an unknown passkey",
      "passkey_refused",
      (options: { challenge: string }) => ({ assertion: answerTo(options, "k9") }),
    ],
    [
      "another answer's challenge",
      "passkey_refused",
      () => ({ assertion: answerTo({ challenge: "A".repeat(43) }, "k1") }),
    ],
    ["an empty assertion", "passkey_refused", () => ({ assertion: {} })],
  ])(
    "refuses %s where it takes a passkey; the question stays open, the ticket is used up",
    async (_what, code, more) => {
      const { ask, signedIn } = setUp({ passkeys: keys() });
      const asked = await ask({ evidence: "passkey" });
      const page = await signedIn();
      const { body } = await prepare(page, asked.request);
      expect(
        await page.post("/api/answers", { ticket: body.ticket, ...more(body.passkey) }),
      ).toMatchObject({ status: 403, body: { code } });
      expect([asked.submissions, asked.ending()]).toEqual([[], undefined]);
      expect(
        (
          await page.post("/api/answers", {
            ticket: body.ticket,
            assertion: answerTo(body.passkey, "k1"),
          })
        ).status,
      ).toBe(410);
      const again = (await prepare(page, asked.request)).body;
      expect(
        (
          await page.post("/api/answers", {
            ticket: again.ticket,
            assertion: answerTo(again.passkey, "k1"),
          })
        ).status,
      ).toBe(200);
    },
  );

  it("refuses a passkey that was revoked between the two", async () => {
    const passkeys = keys();
    const { ask, signedIn, clock } = setUp({ passkeys });
    const asked = await ask(ofLevel("high"));
    const page = await signedIn();
    const { body } = await prepare(page, asked.request);
    await passkeys.revoke("k1", "ada", clock.now());
    expect(
      await page.post("/api/answers", {
        ticket: body.ticket,
        assertion: answerTo(body.passkey, "k1"),
      }),
    ).toMatchObject({
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
    expect(await page.post("/api/answers", { ticket, assertion: {} })).toMatchObject({
      status: 400,
      body: { code: "answer_invalid" },
    });
    expect(asked.submissions).toEqual([]);
  });

  it("takes no other person's passkey for this one's, also where WebAuthn was done wrongly", async () => {
    const careless = () => ({
      ...namedKeys(),
      checkAssertion: async () => ({
        ok: true as const,
        passkey: passkeyOf("bob", "k2"),
        signed: {
          credential_id: "k2",
          authenticator_data: "",
          client_data_json: "",
          signature: "",
        },
      }),
    });
    const { ask, signedIn } = setUp({ passkeys: keys() }, careless);
    const asked = await ask({ evidence: "passkey" });
    const page = await signedIn();
    const { body } = await prepare(page, asked.request);
    expect(await page.post("/api/answers", { ticket: body.ticket, assertion: {} })).toMatchObject({
      status: 403,
      body: { code: "passkey_refused" },
    });
    expect(asked.submissions).toEqual([]);
  });

  it("is for the question that was prepared, not for another that took its id meanwhile", async () => {
    const { inbox, ask, signedIn } = setUp();
    const asked = await ask();
    const page = await signedIn();
    const { ticket } = (await prepare(page, asked.request)).body;
    const other = askDouble(sampleRequest({ id: asked.request.id }), { redelivery: true });
    await inbox.channel().deliver(other.request, other.session);
    expect(await page.post("/api/answers", { ticket })).toMatchObject({
      status: 409,
      body: { code: "question_ended" },
    });
    expect([asked.submissions, other.submissions]).toEqual([[], []]);
  });

  it("lets the one who answered with a passkey add another", async () => {
    const { ask, signedIn } = setUp({ passkeys: keys() });
    const { request } = await ask(ofLevel("high"));
    const page = await signedIn();
    expect((await page.post("/api/passkeys/options", {})).status).toBe(403);
    const { body } = await prepare(page, request);
    await page.post("/api/answers", {
      ticket: body.ticket,
      assertion: answerTo(body.passkey, "k1"),
    });
    expect((await page.post("/api/passkeys/options", {})).status).toBe(200);
  });

  it("serves no other session, also not the same person's, and none after two minutes", async () => {
    const { ask, signedIn, clock } = setUp();
    const asked = await ask();
    const [page, tab, bob] = [await signedIn(), await signedIn(), await signedIn("bob")];
    const { ticket } = (await prepare(page, asked.request)).body;
    for (const other of [tab, bob])
      expect((await other.post("/api/answers", { ticket })).status).toBe(410);
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
    expect(await page.post("/api/answers", { ticket })).toMatchObject({
      status: 409,
      body: { code: "question_ended" },
    });
  });

  it("tells every page of a yes that is counted", async () => {
    const { inbox, signedIn, clock } = setUp();
    const { request, session } = askDouble(sampleRequest({ createdAtMs: clock.now(), quorum: 2 }));
    await inbox.channel().deliver(request, {
      ...session,
      submit: async () => ({ status: "counted", have: 1, need: 2 }),
    });
    const [page, other] = [await signedIn(), await signedIn("bob")];
    const [stream, others] = [await page.events(), await other.events()];
    const { ticket } = (await prepare(page, request)).body;
    expect((await page.post("/api/answers", { ticket })).body).toEqual({
      status: "counted",
      have: 1,
      need: 2,
    });
    await stream.next();
    await others.next();
    expect(await stream.next()).toMatchObject({ event: "open", data: { answered: true, have: 1 } });
    expect(await others.next()).toMatchObject({
      event: "open",
      data: { answered: false, have: 1 },
    });
  });

  it("hands on why the gate refused, and which question is shown instead", async () => {
    const { inbox, signedIn, clock } = setUp();
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
      expect(await page.post("/api/answers", { ticket })).toMatchObject({
        status: 200,
        body: want,
      });
    }
  });

  it("says that it does not know yet where the gate is gone before it answers, and never that it was not taken", async () => {
    const { inbox, signedIn, clock, warnings } = setUp();
    const { request, session } = askDouble(sampleRequest({ createdAtMs: clock.now() }));
    const submit = async (): Promise<never> => {
      throw new Error("the socket closed");
    };
    await inbox.channel().deliver(request, { ...session, submit });
    const page = await signedIn();
    const { ticket } = (await prepare(page, request)).body;
    expect(await page.post("/api/answers", { ticket })).toMatchObject({
      status: 200,
      body: { status: "unknown" },
    });
    expect(warnings.join()).toContain("the socket closed");
  });

  it("says that nothing was sent where that is so", async () => {
    const { inbox, signedIn, clock } = setUp();
    const { request, session } = askDouble(sampleRequest({ createdAtMs: clock.now() }));
    const submit = () =>
      Promise.reject(
        new ConsentError("channel_unavailable", "Cannot send an answer: the connection is closed"),
      );
    await inbox.channel().deliver(request, { ...session, submit });
    const page = await signedIn();
    const { ticket } = (await prepare(page, request)).body;
    expect(await page.post("/api/answers", { ticket })).toMatchObject({
      status: 200,
      body: { status: "refused", code: "gate_lost" },
    });
  });
});

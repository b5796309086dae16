/**
 * The inbox and a gate with real WebAuthn, but for the browser: who signs, what is signed, and what
 * is refused.
 */
import {
  type AskTerms,
  type AuditEventInput,
  type JsonObject,
  type Layer,
  type Verdict,
  createConsentGate,
  isJsonObject,
  toolAction,
} from "@acp/core";
import { createConsentSigner, generateKeyPair, verifyConsentProof } from "@acp/core/proof";
import {
  type SoftwarePasskey,
  type SoftwarePasskeyTwist,
  createSoftwarePasskey,
  manualClock,
} from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createInbox, createPasskeyVerifier, memoryPasskeys } from "../src/index.js";
import { ORIGIN, type Page, openPage } from "./page.js";

const PEOPLE = ["ada", "bob"];
const asJson = (body: object): JsonObject => JSON.parse(JSON.stringify(body)) as JsonObject;

async function setUp(terms: AskTerms = {}) {
  const clock = manualClock();
  const store = memoryPasskeys();
  const inbox = createInbox({
    origin: ORIGIN,
    people: PEOPLE.map((approver) => ({ approver })),
    passkeys: store,
    clock,
  });
  const events: AuditEventInput[] = [];
  const asks: Layer = {
    name: "asks",
    judge: () => ({
      effect: "ask",
      ruleId: "r1",
      reason: "asked",
      level: "high",
      ask: { timeoutMs: 60_000, ...terms },
    }),
  };
  const verifier = createPasskeyVerifier({ passkeys: () => store.list() });
  const gate = createConsentGate({
    channel: inbox.channel(),
    audit: {
      async append(more) {
        events.push(...more);
        return { seq: events.length - 1, hash: `sha256:${"0".repeat(64)}` };
      },
    },
    approvers: PEOPLE.map((id) => ({ id, channel: "web", subject: id })),
    signer: createConsentSigner(generateKeyPair()),
    verifiers: [verifier],
    clock,
    layers: [asks],
  });
  /** Somebody who is signed in, with a passkey that was just made on the page. */
  const enrolled = async (
    approver: string,
  ): Promise<{ readonly page: Page; readonly passkey: SoftwarePasskey }> => {
    const page = openPage(inbox.handler);
    await page.signIn("/api/session", { code: inbox.signInCode(approver) });
    const passkey = createSoftwarePasskey(ORIGIN);
    const { body: options } = await page.post("/api/passkeys/options", {});
    const added = await page.post("/api/passkeys", {
      registration: passkey.register(asJson(options)),
      label: "phone",
    });
    expect(added.status).toBe(201);
    return { page, passkey };
  };
  const write = (path = "notes.txt"): Promise<Verdict> =>
    gate(toolAction("files", "write_file", { path }), { agent: { id: "agent-1" } });
  /** The id of the open question about a path. */
  const open = async (page: Page, path = "notes.txt"): Promise<string> => {
    const stream = await page.events();
    for (let next = await stream.next(); next !== undefined; next = await stream.next()) {
      if (next === "comment") continue;
      const told = next.event === "hello" ? next.data.open : [next.data];
      const found = told.find(({ request }) => request.action.parameters["path"] === path);
      if (found === undefined) continue;
      await stream.cancel();
      return found.request.id;
    }
    throw new Error("the stream ended");
  };
  return { clock, store, inbox, gate, events, verifier, enrolled, write, open };
}

const prepare = (page: Page, id: string, more: object = {}) =>
  page.post("/api/answers/prepare", { request_id: id, decision: "approved", ...more });

const recordOf = (
  events: readonly AuditEventInput[],
): { readonly request: JsonObject; readonly response: JsonObject } => {
  const request = events.find(({ eventType }) => eventType === "consent_requested")?.metadata[
    "request"
  ];
  const responses = events.find(({ eventType }) => eventType === "consent_approved")?.metadata[
    "responses"
  ];
  const [response] = Array.isArray(responses) ? responses : [];
  if (!isJsonObject(request) || !isJsonObject(response))
    throw new Error("the log lacks the record");
  return { request, response };
};

describe("a yes with a passkey", () => {
  it("is in the log with the person's own proof, which a stranger checks", async () => {
    const { gate, events, verifier, enrolled, write, open } = await setUp({ evidence: "passkey" });
    await using _closing = gate;
    const { page, passkey } = await enrolled("ada");
    const verdict = write();
    const { body } = await prepare(page, await open(page));
    expect(
      (
        await page.post("/api/answers", {
          ticket: body.ticket,
          assertion: passkey.assert(body.passkey),
        })
      ).body,
    ).toEqual({
      status: "final",
      outcome: "approved",
    });
    expect(await verdict).toMatchObject({ decision: "allow", approvers: ["ada"] });
    const { request, response } = recordOf(events);
    expect(response["proof"]).toMatchObject({
      algorithm: "WebAuthn",
      credential_id: passkey.id,
      signed_payload_hash: body.payload_hash,
    });
    expect(
      await verifyConsentProof(response, request, { trustedKeys: [], verifiers: [verifier] }),
    ).toMatchObject({ ok: true });
    const stranger = createPasskeyVerifier({ passkeys: async () => [] });
    expect(
      await verifyConsentProof(response, request, { trustedKeys: [], verifiers: [stranger] }),
    ).toMatchObject({ ok: false });
  });

  it("holds for a question that takes two, until both are there", async () => {
    const { gate, clock, enrolled, write, open } = await setUp({ evidence: "passkey", quorum: 2 });
    await using _closing = gate;
    const [ada, bob] = [await enrolled("ada"), await enrolled("bob")];
    const verdict = write();
    const id = await open(ada.page);
    const receipts: unknown[] = [];
    for (const { page, passkey } of [ada, bob]) {
      const { body } = await prepare(page, id);
      receipts.push(
        (
          await page.post("/api/answers", {
            ticket: body.ticket,
            assertion: passkey.assert(body.passkey),
          })
        ).body,
      );
      await clock.advance(25_000);
    }
    expect(receipts).toEqual([
      { status: "counted", have: 1, need: 2 },
      { status: "final", outcome: "approved" },
    ]);
    expect(await verdict).toMatchObject({ decision: "allow", approvers: ["ada", "bob"] });
  });

  it("signs an edit and a reason along", async () => {
    const { gate, events, verifier, enrolled, write, open } = await setUp();
    await using _closing = gate;
    const { page, passkey } = await enrolled("ada");
    const verdict = write();
    const edit = {
      decision: "approved_with_modifications",
      modifications: { path: "other.txt" },
      reason: "there",
    };
    const { body } = await prepare(page, await open(page), edit);
    await page.post("/api/answers", {
      ticket: body.ticket,
      assertion: passkey.assert(body.passkey),
    });
    expect(await verdict).toMatchObject({
      decision: "allow",
      action: { args: { path: "other.txt" } },
    });
    const record = events.find(({ eventType }) => eventType === "consent_approved")?.metadata[
      "responses"
    ];
    const request = events.find(({ eventType }) => eventType === "consent_requested")?.metadata[
      "request"
    ];
    const [response] = Array.isArray(record) ? record : [];
    expect(
      await verifyConsentProof(response, request, { trustedKeys: [], verifiers: [verifier] }),
    ).toMatchObject({ ok: true });
  });

  it.each<[string, SoftwarePasskeyTwist]>([
    ["without user verification", { isVerified: false }],
    ["without user presence", { isPresent: false }],
    ["from another origin", { origin: "http://localhost:3000" }],
    ["for another domain", { rpId: "example.com" }],
    ["of another type", { type: "webauthn.create" }],
    ["inside another site's frame", { crossOrigin: true }],
    ["with a forged signature", { isForged: true }],
    ["for another challenge", { challenge: "A".repeat(43) }],
  ])("is none %s; the question stays open", async (_how, twist) => {
    const { gate, events, enrolled, write, open } = await setUp();
    await using _closing = gate;
    const { page, passkey } = await enrolled("ada");
    const verdict = write();
    const id = await open(page);
    const { body } = await prepare(page, id);
    const refused = await page.post("/api/answers", {
      ticket: body.ticket,
      assertion: passkey.assert(body.passkey, twist),
    });
    expect(refused).toMatchObject({ status: 403, body: { code: "passkey_refused" } });
    expect(events.some(({ eventType }) => eventType === "consent_approved")).toBe(false);
    await page.post("/api/answers", {
      ticket: (await prepare(page, id, { decision: "denied" })).body.ticket,
    });
    expect(await verdict).toMatchObject({ decision: "deny" });
  });

  it("is none with another person's passkey, a replayed assertion, another action's or a passkey that was revoked meanwhile", async () => {
    const { gate, clock, store, events, enrolled, write, open } = await setUp();
    await using _closing = gate;
    const [{ page, passkey }, bob] = [await enrolled("ada"), await enrolled("bob")];
    const verdicts = [write("one.txt"), write("two.txt")];
    const [one, two] = [await open(page, "one.txt"), await open(page, "two.txt")];
    const ticketOf = async (id: string) => {
      await clock.advance(1);
      return (await prepare(page, id)).body;
    };
    const first = await ticketOf(one);
    const assertion = passkey.assert(first.passkey);
    const others = await ticketOf(one);
    const refused = [
      await page.post("/api/answers", {
        ticket: others.ticket,
        assertion: bob.passkey.assert(others.passkey),
      }),
      await page.post("/api/answers", { ticket: (await ticketOf(one)).ticket, assertion }),
      await page.post("/api/answers", { ticket: (await ticketOf(two)).ticket, assertion }),
    ];
    await store.revoke(passkey.id, "ada", clock.now());
    refused.push(await page.post("/api/answers", { ticket: first.ticket, assertion }));
    for (const each of refused)
      expect(each).toMatchObject({ status: 403, body: { code: "passkey_refused" } });
    expect(await prepare(page, one)).toMatchObject({
      status: 403,
      body: { code: "passkey_missing" },
    });
    expect(events.some(({ eventType }) => eventType === "consent_approved")).toBe(false);
    await clock.advance(60_000);
    expect((await Promise.all(verdicts)).map(({ decision }) => decision)).toEqual(["deny", "deny"]);
  });

  it("signs in, and from then on only while the passkey counts", async () => {
    const { inbox, clock, store, enrolled } = await setUp();
    const { passkey } = await enrolled("ada");
    const page = openPage(inbox.handler);
    const { body: options } = await page.post("/api/session/passkey/options", {});
    expect(
      (await page.signIn("/api/session/passkey", { ...passkey.assert(asJson(options)) })).status,
    ).toBe(200);
    expect(await page.get("/api/session")).toMatchObject({ body: { approver: "ada" } });
    await store.revoke(passkey.id, "ada", clock.now());
    expect((await page.get("/api/session")).status).toBe(401);
    const { body: again } = await page.post("/api/session/passkey/options", {});
    expect(
      await openPage(inbox.handler).signIn("/api/session/passkey", {
        ...passkey.assert(asJson(again)),
      }),
    ).toMatchObject({
      status: 401,
    });
  });
});

describe("a gate that wants a passkey", () => {
  it("takes no yes from a session, whatever reaches it", async () => {
    const { gate, inbox, enrolled, write, open } = await setUp({ evidence: "passkey" });
    await using _closing = gate;
    const { page } = await enrolled("ada");
    const verdict = write();
    const id = await open(page);
    const { body } = await prepare(page, id);
    // As an inbox with a mistake in it would: the answer without its proof.
    const response = asJson(body.response);
    expect(await gate.answer(response, { channel: "web", subject: "ada" })).toMatchObject({
      status: "refused",
      code: "evidence_required",
    });
    await inbox.close();
    expect(
      await gate.answer({ ...response, decision: "denied" }, { channel: "web", subject: "ada" }),
    ).toMatchObject({
      status: "final",
    });
    expect(await verdict).toMatchObject({ decision: "deny" });
  });
});

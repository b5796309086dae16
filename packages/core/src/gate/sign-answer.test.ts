import { describe, expect, it } from "vitest";
import { agent, asPending, first, type Kit, last, makeKit, reply } from "../../test/gate-kit.js";
import { otherPair, pair, trusted } from "../../test/proof-kit.js";
import {
  type ConsentRequest,
  type ConsentSigner,
  encodeRequest,
  type GateOptions,
  type JsonObject,
  requestHash,
  type Signer,
  toolAction,
} from "../index.js";
import { parsePolicy } from "../policy.js";
import { createConsentSigner, makeConsentRecord, verifyConsentRecord } from "../proof.js";
import { createConsentGate } from "./gate.js";

const write = toolAction("files", "write_file", { path: "a.txt", content: "hello" });
const people = ["alice", "bob", "carol"].map((id) => ({ id, channel: "test", subject: id }));
const quorumOfTwo = parsePolicy({
  version: "1",
  rules: [{ id: "two", match: { kind: "*" }, action: "ask", quorum: 2 }],
});

/** The record of a question as anybody finds it in the log. */
function exported({ sink }: Kit, end: string): JsonObject {
  const metadata = (type: string): JsonObject =>
    sink.events.findLast(({ eventType }) => eventType === type)?.metadata ?? {};
  const request = metadata("consent_requested")["request"] as JsonObject;
  return makeConsentRecord(request, metadata(end)["responses"] as readonly JsonObject[]);
}

const verified = (kit: Kit, end: string) =>
  verifyConsentRecord(JSON.stringify(exported(kit, end)), { trustedKeys: [trusted] });

async function asked(options: Partial<GateOptions>) {
  const kit = makeKit({ signer: createConsentSigner(pair), ...options });
  const verdict = kit.gate(write, { agent });
  await kit.settle();
  return { ...kit, verdict, question: first(kit.shown) };
}

describe("a gate with a signer", () => {
  it("puts a yes into the log so that anybody can verify it, and the proof into the verdict", async () => {
    const kit = await asked({});
    expect(
      await kit.question.session.submit(
        reply(kit.question, { decision: "approved", reason: "fine" }),
      ),
    ).toMatchObject({
      status: "final",
    });
    const verdict = await kit.verdict;
    expect(await verified(kit, "consent_approved")).toMatchObject({
      ok: true,
      decision: "approved",
      consents: [{ approverId: "local", channel: "test" }],
    });
    const { metadata } = last(kit.sink.events);
    expect(metadata["request_hash"]).toBe(requestHash(kit.question.request));
    expect(verdict).toMatchObject({ decision: "allow", proofs: metadata["responses"] });
  });

  it("puts a no into the log in the same way", async () => {
    const kit = await asked({});
    await kit.question.session.submit(reply(kit.question, { decision: "denied", reason: "never" }));
    expect(await kit.verdict).toMatchObject({ code: "consent_denied" });
    expect(await verified(kit, "consent_denied")).toMatchObject({ ok: true, decision: "denied" });
  });

  it("signs an edit with the parameters that are performed", async () => {
    const kit = await asked({});
    const modifications = { path: "b.txt", content: "" };
    await kit.question.session.submit(
      reply(kit.question, { decision: "approved_with_modifications", modifications }),
    );
    expect(await kit.verdict).toMatchObject({ decision: "allow", action: { args: modifications } });
    expect(await verified(kit, "consent_approved")).toMatchObject({
      ok: true,
      decision: "approved_with_modifications",
    });
    expect(exported(kit, "consent_approved")).toMatchObject({ response: { modifications } });
  });

  it("signs for the approver that the channel authenticated, whatever the claim says", async () => {
    const kit = await asked({ approvers: people });
    const claim = {
      ...reply(kit.question, { decision: "approved", approverId: "carol", channel: "web" }),
      proof: { algorithm: "none" },
    };
    await kit.question.session.submit(claim, { subject: "bob" });
    expect(await verified(kit, "consent_approved")).toMatchObject({
      ok: true,
      consents: [{ approverId: "bob", channel: "test" }],
    });
  });

  it("keeps one proof of each approver of a quorum", async () => {
    const kit = await asked({ policy: quorumOfTwo, approvers: people });
    for (const subject of ["alice", "bob"]) {
      await kit.clock.advance(30_000);
      await kit.question.session.submit(reply(kit.question, { decision: "approved" }), { subject });
    }
    expect(await kit.verdict).toMatchObject({ decision: "allow", approvers: ["alice", "bob"] });
    const result = await verified(kit, "consent_approved");
    expect(result).toMatchObject({
      ok: true,
      consents: [{ approverId: "alice" }, { approverId: "bob" }],
    });
  });

  it("keeps an early yes of a quorum valid until the question's end", async () => {
    const rule = { id: "two", match: { kind: "*" }, action: "ask", quorum: 2, timeout: 3_600 };
    const kit = await asked({
      policy: parsePolicy({ version: "1", rules: [rule] }),
      approvers: people,
    });
    for (const subject of ["alice", "bob"]) {
      await kit.question.session.submit(
        reply(kit.question, { decision: "approved", nowMs: kit.clock.now() }),
        { subject },
      );
      await kit.clock.advance(1_800_000);
    }
    expect(await kit.verdict).toMatchObject({ decision: "allow" });
    expect(await verified(kit, "consent_approved")).toMatchObject({
      ok: true,
      consents: [{ approverId: "alice" }, { approverId: "bob" }],
    });
  });

  it("signs one no against a yes that was counted, also of the same person", async () => {
    const kit = await asked({ policy: quorumOfTwo, approvers: people });
    for (const decision of ["approved", "denied"] as const)
      await kit.question.session.submit(reply(kit.question, { decision }), { subject: "alice" });
    expect(await kit.verdict).toMatchObject({ code: "consent_denied" });
    expect(await verified(kit, "consent_denied")).toMatchObject({
      ok: true,
      decision: "denied",
      consents: [{ approverId: "alice" }],
    });
  });

  it("writes the request of a question that an edit made", async () => {
    const kit = await asked({ policy: quorumOfTwo, approvers: people });
    const modifications = { path: "b.txt", content: "" };
    await kit.question.session.submit(
      reply(kit.question, { decision: "approved_with_modifications", modifications }),
      {
        subject: "alice",
      },
    );
    await kit.settle();
    const successor = last(kit.shown);
    for (const subject of ["alice", "bob"])
      await successor.session.submit(reply(successor, { decision: "approved" }), { subject });
    expect(await kit.verdict).toMatchObject({ decision: "allow" });
    expect(await verified(kit, "consent_approved")).toMatchObject({
      ok: true,
      requestId: successor.request.id,
    });
  });

  it.each([60_000, 3_600_000])(
    "proves an answer that came while the wall clock was set back by %d ms",
    async (backMs) => {
      const kit = await asked({});
      const { createdAtMs } = kit.question.request;
      kit.clock.jump(-backMs);
      await kit.question.session.submit(
        reply(kit.question, { decision: "approved", nowMs: createdAtMs }),
      );
      expect(await kit.verdict).toMatchObject({ decision: "allow" });
      expect(await verified(kit, "consent_approved")).toMatchObject({ ok: true });
    },
  );

  it("signs nothing for an answer that is refused", async () => {
    const seen: Uint8Array[] = [];
    const signer: Signer = { ...pair, sign: (payload) => (seen.push(payload), pair.sign(payload)) };
    const rule = {
      id: "two",
      match: { kind: "*" },
      action: "ask",
      quorum: 2,
      approvers: ["alice", "bob"],
    };
    const kit = await asked({
      signer: createConsentSigner(signer),
      policy: parsePolicy({ version: "1", rules: [rule] }),
      approvers: people,
    });
    const uninvited = await kit.question.session.submit(
      reply(kit.question, { decision: "approved" }),
      { subject: "carol" },
    );
    expect(uninvited).toMatchObject({ status: "refused", code: "approver_not_allowed" });
    await kit.question.session.submit(reply(kit.question, { decision: "approved" }), {
      subject: "mallory",
    });
    await kit.question.session.submit(
      { ...reply(kit.question, { decision: "approved" }), nonce: "n_other" },
      { subject: "alice" },
    );
    expect(seen).toHaveLength(0);
    await kit.question.session.submit(reply(kit.question, { decision: "approved" }), {
      subject: "alice",
    });
    await kit.question.session.submit(reply(kit.question, { decision: "approved" }), {
      subject: "alice",
    });
    expect(seen).toHaveLength(1);
  });

  it("has signed before anything of the end is recorded", async () => {
    const order: string[] = [];
    const signer: Signer = {
      ...pair,
      sign: (payload) => (order.push("signed"), pair.sign(payload)),
    };
    const kit = await asked({ signer: createConsentSigner(signer) });
    const append = kit.sink.append.bind(kit.sink);
    kit.sink.append = (events) => (
      order.push(...events.map(({ eventType }) => eventType)), append(events)
    );
    await kit.question.session.submit(reply(kit.question, { decision: "approved" }));
    expect(order).toEqual(["signed", "consent_approved"]);
  });

  it.each<readonly [string, Signer]>([
    ["throws", { ...pair, sign: () => Promise.reject(new Error("no token")) }],
    [
      "throws at once",
      {
        ...pair,
        sign: () => {
          throw new Error("no token");
        },
      },
    ],
    ["signs with another key", { ...otherPair, publicKey: pair.publicKey }],
    ["signs other bytes", { ...pair, sign: () => pair.sign(new Uint8Array(1)) }],
    [
      "returns no signature",
      { ...pair, sign: () => Promise.resolve(undefined as unknown as Uint8Array) },
    ],
  ])("denies with signer_failed where the signer %s", async (_, signer) => {
    const kit = await asked({ signer: createConsentSigner(signer) });
    expect(
      await kit.question.session.submit(reply(kit.question, { decision: "approved" })),
    ).toEqual({
      status: "final",
      outcome: "failed",
    });
    expect(await kit.verdict).toMatchObject({ decision: "deny", code: "signer_failed" });
    expect(kit.types()).not.toContain("consent_approved");
    expect(last(kit.sink.events)).toMatchObject({ eventType: "consent_failed" });
  });

  it("denies with signer_failed where the signer is silent for too long", async () => {
    const kit = await asked({
      signer: createConsentSigner({ ...pair, sign: () => new Promise(() => undefined) }),
    });
    const receipt = kit.question.session.submit(reply(kit.question, { decision: "approved" }));
    await kit.clock.advance(30_000);
    expect(await receipt).toEqual({ status: "final", outcome: "failed" });
    expect(await kit.verdict).toMatchObject({ code: "signer_failed" });
  });

  it("is not made with a signer whose signatures nothing checks", () => {
    const options = {
      channel: { name: "test", deliver: () => Promise.resolve() },
      audit: makeKit().sink,
    };
    const made = createConsentSigner(pair);
    const signers: readonly unknown[] = [
      pair,
      { ...made },
      { ...pair, signAnswer: made.signAnswer.bind(made) },
      Object.create(made),
      null,
      1,
    ];
    for (const signer of signers)
      expect(() => createConsentGate({ ...options, signer: signer as ConsentSigner })).toThrow(
        expect.objectContaining({ code: "options_invalid" }),
      );
    expect(createConsentGate({ ...options, signer: made })).toBeTypeOf("function");
  });

  it("keeps the proof for the retry of a caller that was told to call again", async () => {
    const kit = makeKit({ signer: createConsentSigner(pair) });
    const pending = asPending(await kit.gate.open(write, { agent }));
    await kit.settle();
    await pending.defer();
    const question = first(kit.shown);
    await question.session.submit(reply(question, { decision: "approved" }));
    const retried = await kit.gate(write, { agent });
    expect(retried).toMatchObject({
      decision: "allow",
      proofs: [{ request_id: question.request.id }],
    });
  });
});

describe("a gate without a signer", () => {
  it("writes neither request nor responses, and its verdicts carry no proofs", async () => {
    const kit = makeKit();
    const verdict = kit.gate(write, { agent });
    await kit.settle();
    await first(kit.shown).session.submit(reply(first(kit.shown), { decision: "approved" }));
    expect(await verdict).not.toHaveProperty("proofs");
    for (const { metadata } of kit.sink.events)
      for (const key of ["request", "responses", "request_hash"])
        expect(metadata).not.toHaveProperty(key);
  });
});

it("the whole request is what is hashed: the one in the log is the one that was shown", async () => {
  const kit = await asked({});
  const shown: ConsentRequest = kit.question.request;
  expect(
    kit.sink.events.find(({ eventType }) => eventType === "consent_requested")?.metadata["request"],
  ).toEqual(encodeRequest(shown));
});

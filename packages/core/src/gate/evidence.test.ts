import { describe, expect, it } from "vitest";
import { agent, first, last, makeKit, reply, type Kit, type Shown } from "../../test/gate-kit.js";
import { type EvidenceVerifier, type JsonObject, toolAction } from "../index.js";
import { parsePolicy } from "../policy.js";
import { createConsentSigner, generateKeyPair } from "../proof.js";

const write = toolAction("files", "write_file", { path: "a.txt", content: "hello" });
const policy = parsePolicy({
  version: "1",
  rules: [{ match: { tool: "*" }, action: "ask", approval: "passkey" }],
});
const approvers = [{ id: "alice", channel: "test", subject: "1" }];
const proof = { algorithm: "WebAuthn", credential_id: "c1" };

/** A verifier that takes what carries the proof above. */
const passkeys: EvidenceVerifier = {
  algorithm: "WebAuthn",
  verify: ({ proof: given }) =>
    Promise.resolve(
      JSON.stringify(given) === JSON.stringify(proof) ? { ok: true } : { ok: false, reason: "no" },
    ),
};

interface Asked extends Kit {
  readonly verdict: ReturnType<Kit["gate"]>;
  readonly question: Shown;
}

async function asked(options: Parameters<typeof makeKit>[0] = {}): Promise<Asked> {
  const kit = makeKit({ policy, approvers, verifiers: [passkeys], ...options });
  const verdict = kit.gate(write, { agent });
  await kit.settle();
  return { ...kit, verdict, question: first(kit.shown) };
}

const claim = (
  { question }: Asked,
  change: object = {},
  decision: "approved" | "denied" = "approved",
): JsonObject => ({
  ...reply(question, { decision, approverId: "alice" }),
  proof,
  ...change,
});

describe("a question that takes a passkey", () => {
  it("is asked where a verifier is there, and approved by an answer whose proof holds; the log has that very answer", async () => {
    const kit = await asked({ signer: createConsentSigner(generateKeyPair()) });
    const answer = claim(kit);
    expect(await kit.gate.answer(answer, { channel: "test", subject: "1" })).toMatchObject({
      status: "final",
      outcome: "approved",
    });
    expect(await kit.verdict).toMatchObject({ decision: "allow" });
    const end = kit.sink.events.find(({ eventType }) => eventType === "consent_approved");
    expect(end?.metadata["responses"]).toEqual([answer]);
  });

  it("is asked by no gate whose verifiers are for something else", async () => {
    const other = makeKit({ policy, verifiers: [{ ...passkeys, algorithm: "Fingerprint" }] });
    expect(await other.gate(write, { agent })).toMatchObject({ code: "evidence_unavailable" });
  });

  it("is denied without one: whoever may answer may stop it", async () => {
    const kit = await asked();
    const no = reply(kit.question, { decision: "denied" });
    expect(await kit.gate.answer(no, { channel: "test", subject: "1" })).toMatchObject({
      status: "final",
      outcome: "denied",
    });
  });

  const refused: readonly (readonly [string, string, object])[] = [
    ["no proof", "evidence_required", { proof: undefined }],
    [
      "a proof of another algorithm",
      "evidence_required",
      { proof: { ...proof, algorithm: "Ed25519" } },
    ],
    [
      "a proof whose algorithm is no text",
      "evidence_required",
      { proof: { ...proof, algorithm: ["WebAuthn"] } },
    ],
    [
      "a proof that does not hold",
      "evidence_invalid",
      { proof: { ...proof, credential_id: "c2" } },
    ],
    ["another person's proof", "evidence_invalid", { approver: { id: "bob", channel: "test" } }],
    [
      "a proof given on another channel",
      "evidence_invalid",
      { approver: { id: "alice", channel: "web" } },
    ],
    ["a proof without a person", "evidence_invalid", { approver: undefined }],
    [
      "a proof given before the question",
      "evidence_invalid",
      { timestamp: "2001-01-01T00:00:00.000Z" },
    ],
    ["a proof given in the future", "evidence_invalid", { timestamp: "2040-01-01T00:00:00.000Z" }],
    ["a proof without a time", "evidence_invalid", { timestamp: undefined }],
  ];
  it.each(refused)("stays open after %s", async (_, code, change) => {
    const kit = await asked();
    const bad = JSON.parse(JSON.stringify(claim(kit, change))) as JsonObject;
    expect(await kit.gate.answer(bad, { channel: "test", subject: "1" })).toMatchObject({
      status: "refused",
      code,
    });
    expect(last(kit.sink.events)).toMatchObject({
      eventType: "consent_refused",
      metadata: { code },
    });
    expect(await kit.gate.answer(claim(kit), { channel: "test", subject: "1" })).toMatchObject({
      status: "final",
      outcome: "approved",
    });
  });

  it("takes its verifier's word for nothing but a plain yes", async () => {
    for (const result of [{ ok: 1 }, { ok: "true" }, {}]) {
      const verify = (): Promise<never> => Promise.resolve(result as never);
      const kit = await asked({ verifiers: [{ algorithm: "WebAuthn", verify }] });
      expect(await kit.gate.answer(claim(kit), { channel: "test", subject: "1" })).toMatchObject({
        code: "evidence_invalid",
      });
    }
    const broken = await asked({
      verifiers: [{ algorithm: "WebAuthn", verify: () => Promise.reject(new Error("broken")) }],
    });
    expect(
      await broken.gate.answer(claim(broken), { channel: "test", subject: "1" }),
    ).toMatchObject({ code: "evidence_invalid" });
  });

  it("is answered once by one assertion", async () => {
    const kit = await asked();
    const receipts = await Promise.all(
      [1, 2].map(() => kit.gate.answer(claim(kit), { channel: "test", subject: "1" })),
    );
    expect(receipts.map(({ status }) => status).sort()).toEqual(["final", "refused"]);
  });
});

describe("a proof that nobody asked for", () => {
  const any = parsePolicy({ version: "1", default_action: "ask" });

  it("is judged all the same where its verifier is there", async () => {
    const kit = await asked({ policy: any });
    const bad = claim(kit, { proof: { ...proof, credential_id: "c2" } });
    expect(await kit.gate.answer(bad, { channel: "test", subject: "1" })).toMatchObject({
      code: "evidence_invalid",
    });
    expect(await kit.gate.answer(claim(kit), { channel: "test", subject: "1" })).toMatchObject({
      status: "final",
    });
  });

  it("must last until the others may have answered", async () => {
    const two = parsePolicy({
      version: "1",
      rules: [{ match: { tool: "*" }, action: "ask", approvers: ["alice", "bob"], quorum: 2 }],
    });
    const people = [...approvers, { id: "bob", channel: "test", subject: "2" }];
    const kit = await asked({ policy: two, approvers: people });
    const short = {
      ...claim(kit),
      conditions: {
        valid_until: new Date(kit.question.request.expiresAtMs - 1).toISOString(),
        single_use: true,
      },
    };
    expect(await kit.gate.answer(short, { channel: "test", subject: "1" })).toMatchObject({
      code: "evidence_invalid",
    });
    expect(await kit.gate.answer(claim(kit), { channel: "test", subject: "1" })).toMatchObject({
      status: "counted",
      have: 1,
      need: 2,
    });
  });
});

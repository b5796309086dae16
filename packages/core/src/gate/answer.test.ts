import { describe, expect, it } from "vitest";
import { agent, first, last, makeKit, reply } from "../../test/gate-kit.js";
import { toolAction } from "../index.js";
import { parsePolicy } from "../policy.js";

const write = toolAction("files", "write_file", { path: "a.txt", content: "hello" });

describe("answers that are refused leave the question open", () => {
  const cases: readonly (readonly [string, string, (claim: Record<string, unknown>) => unknown])[] =
    [
      ["another request", "request_unknown", (claim) => ({ ...claim, request_id: "cr_other" })],
      ["another nonce", "nonce_mismatch", (claim) => ({ ...claim, nonce: "n_other" })],
      ["a decision that is none", "response_invalid", (claim) => ({ ...claim, decision: "yes" })],
      ["a boolean decision", "response_invalid", (claim) => ({ ...claim, decision: true })],
      ["an unknown key", "response_invalid", (claim) => ({ ...claim, approved: "no" })],
      [
        "an offer that was not made",
        "grant_not_offered",
        (claim) => ({
          ...claim,
          grant: "all",
          conditions: { valid_until: "2030-01-01T00:00:00.000Z", single_use: false },
        }),
      ],
      [
        "single_use false without an offer",
        "response_invalid",
        (claim) => ({
          ...claim,
          conditions: { valid_until: "2030-01-01T00:00:00.000Z", single_use: false },
        }),
      ],
      [
        "a validity that is over",
        "response_invalid",
        (claim) => ({
          ...claim,
          conditions: { valid_until: "2001-01-01T00:00:00.000Z", single_use: true },
        }),
      ],
      [
        "modifications beside a plain yes",
        "response_invalid",
        (claim) => ({ ...claim, modifications: { path: "b" } }),
      ],
      ["nothing", "response_invalid", () => undefined],
      ["text that is no JSON", "response_invalid", () => "approved"],
      [
        "a duplicate decision",
        "response_invalid",
        (claim) =>
          JSON.stringify(claim).replace(
            '"decision":"approved"',
            '"decision":"denied","decision":"approved"',
          ),
      ],
    ];

  it.each(cases)("%s", async (_, code, change) => {
    const { gate, shown, settle } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    expect(
      await question.session.submit(change(reply(question, { decision: "approved" }))),
    ).toMatchObject({ status: "refused", code });
    expect(
      await question.session.submit(JSON.stringify(reply(question, { decision: "approved" }))),
    ).toMatchObject({ status: "final" });
    expect(await verdict).toMatchObject({ decision: "allow" });
  });

  it("a second yes, after the first", async () => {
    const { gate, shown, settle } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    const receipts = await Promise.all(
      [1, 2, 3].map(() => question.session.submit(reply(question, { decision: "approved" }))),
    );
    expect(receipts.filter(({ status }) => status === "final")).toHaveLength(1);
    expect(await verdict).toMatchObject({ decision: "allow" });
  });
});

describe("a critical question", () => {
  const policy = parsePolicy({
    version: "1",
    rules: [{ match: { tool: "*" }, action: "ask", level: "critical" }],
  });

  it("takes a yes, edited or not, only with the word that the person typed", async () => {
    const { gate, shown, settle, types } = makeKit({ policy });
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    const edit = {
      decision: "approved_with_modifications",
      modifications: { path: "b.txt" },
    } as const;
    for (const parts of [
      { decision: "approved" },
      { decision: "approved", confirmation: "APPROVE" },
      edit,
    ] as const)
      expect(await question.session.submit(reply(question, parts))).toMatchObject({
        status: "refused",
        code: "confirmation_required",
      });
    expect(types().filter((type) => type === "consent_refused")).toHaveLength(3);
    expect(
      await question.session.submit(reply(question, { ...edit, confirmation: "approve" })),
    ).toMatchObject({ status: "final" });
    expect(await verdict).toMatchObject({
      code: "consent_modified",
      action: { args: { path: "b.txt" } },
    });
  });

  it("takes a no without it", async () => {
    const { gate, shown, settle } = makeKit({ policy });
    const verdict = gate(write, { agent });
    await settle();
    expect(
      await first(shown).session.submit(reply(first(shown), { decision: "denied" })),
    ).toMatchObject({ status: "final" });
    expect(await verdict).toMatchObject({ code: "consent_denied" });
  });

  it("is one whose tool is classified as critical, whatever level its rule names", async () => {
    const classified = parsePolicy({
      version: "1",
      rules: [{ match: { tool: "*" }, action: "ask", level: "low" }],
      classify: [{ tool: "write_file", category: "physical", risk: "critical" }],
    });
    const { gate, shown, settle } = makeKit({ policy: classified });
    void gate(write, { agent });
    await settle();
    const question = first(shown);
    expect(await question.session.submit(reply(question, { decision: "approved" }))).toMatchObject({
      code: "confirmation_required",
    });
    expect(
      await question.session.submit(
        reply(question, { decision: "approved", confirmation: "approve" }),
      ),
    ).toMatchObject({
      status: "final",
    });
  });
});

describe("approvers", () => {
  const approvers = [
    { id: "alice", channel: "test", subject: "1" },
    { id: "bob", channel: "test", subject: "2" },
    { id: "carol", channel: "web", subject: "1" },
  ];
  const twoOf = parsePolicy({
    version: "1",
    rules: [{ match: { tool: "*" }, action: "ask", quorum: 2, approvers: ["ops"] }],
  });

  it("takes only a subject that the channel authenticated and the list knows", async () => {
    const { gate, shown, settle } = makeKit({ approvers });
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    const yes = reply(question, { decision: "approved", approverId: "alice" });
    expect(await question.session.submit(yes, { subject: "9" })).toMatchObject({
      code: "approver_unknown",
    });
    expect(await question.session.submit(yes)).toMatchObject({ code: "approver_unknown" });
    expect(await question.session.submit(yes, { subject: "2" })).toMatchObject({ status: "final" });
    expect(await verdict).toMatchObject({ approvers: ["bob"] });
  });

  it("counts distinct people for a quorum, over channels, and one no ends it", async () => {
    const { gate, shown, settle } = makeKit({
      approvers,
      groups: { ops: ["alice", "bob", "carol"] },
      policy: twoOf,
    });
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    const yes = reply(question, { decision: "approved" });
    expect(await question.session.submit(yes, { subject: "1" })).toEqual({
      status: "counted",
      have: 1,
      need: 2,
    });
    expect(await question.session.submit(yes, { subject: "1" })).toMatchObject({
      code: "already_answered",
    });
    expect(await gate.answer(yes, { channel: "web", subject: "1" })).toMatchObject({
      status: "final",
    });
    expect(await verdict).toMatchObject({ decision: "allow", approvers: ["alice", "carol"] });
  });

  it("denies at once where nobody is left who may answer: an empty list, or the agent itself", async () => {
    expect(await makeKit({ approvers: [] }).gate(write, { agent })).toMatchObject({
      code: "no_approver",
    });
    const self = makeKit({ approvers: [{ id: "demo", channel: "test", subject: "1" }] });
    expect(await self.gate(write, { agent })).toMatchObject({ code: "no_approver" });
    const unknownGroup = makeKit({ approvers, policy: twoOf });
    expect(await unknownGroup.gate(write, { agent })).toMatchObject({ code: "no_approver" });
  });

  it("denies at once where the rule wants a passkey and nothing can verify one", async () => {
    const policy = parsePolicy({
      version: "1",
      rules: [{ match: { tool: "*" }, action: "ask", approval: "passkey" }],
    });
    expect(await makeKit({ policy }).gate(write, { agent })).toMatchObject({
      code: "evidence_unavailable",
    });
  });
});

describe("approve with modifications", () => {
  it("releases the edited action, judged again and recorded as proposed, approved and effective", async () => {
    const { gate, shown, settle, sink } = makeKit();
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    const edited = { path: "a.txt", content: "bye" };
    await question.session.submit(
      reply(question, { decision: "approved_with_modifications", modifications: edited }),
    );
    expect(await verdict).toMatchObject({
      code: "consent_modified",
      action: { name: "write_file", args: edited },
    });
    const event = last(sink.events);
    expect(event.metadata).toMatchObject({
      approved_parameters: edited,
      proposed_digest: question.request.actionDigest,
    });
    expect(event.metadata["effective_digest"]).not.toBe(question.request.actionDigest);
  });

  const guarded = parsePolicy({
    version: "1",
    default_action: "ask",
    rules: [
      { match: { tool: "*", args: { path: "/etc/*" } }, action: "deny" },
      { match: { tool: "*", args: { path: "/srv/*" } }, action: "ask", level: "critical" },
    ],
  });

  it("refuses an edit that the policy denies, and leaves the question open", async () => {
    const { gate, shown, settle } = makeKit({ policy: guarded });
    const verdict = gate(write, { agent });
    await settle();
    const question = first(shown);
    const bad = reply(question, {
      decision: "approved_with_modifications",
      modifications: { path: "/etc/passwd", content: "" },
    });
    expect(await question.session.submit(bad)).toMatchObject({
      status: "refused",
      code: "modification_denied",
    });
    await question.session.submit(reply(question, { decision: "approved" }));
    expect(await verdict).toMatchObject({ code: "consent_approved" });
  });

  it("shows an edit that is judged stricter as a new question in place of the old one", async () => {
    const { gate, shown, settle } = makeKit({ policy: guarded });
    const verdict = gate(write, { agent });
    await settle();
    const old = first(shown);
    const risky = reply(old, {
      decision: "approved_with_modifications",
      modifications: { path: "/srv/x", content: "" },
    });
    expect(await old.session.submit(risky)).toMatchObject({ status: "reshow" });
    await settle();
    expect(await old.session.ended).toMatchObject({ status: "superseded" });
    const next = last(shown);
    expect(next.request.policy.requiredLevel).toBe("critical");
    expect(await old.session.submit(reply(old, { decision: "approved" }))).toMatchObject({
      code: "request_ended",
    });
    await next.session.submit(reply(next, { decision: "approved", confirmation: "approve" }));
    expect(await verdict).toMatchObject({
      decision: "allow",
      action: { args: { path: "/srv/x" } },
      requestId: next.request.id,
    });
  });
});

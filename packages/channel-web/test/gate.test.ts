/**
 * An inbox under a real gate: quorum, escalation, leases, edits, several gates, and what the gate
 * refuses.
 */
import {
  type GateOptions,
  type Layer,
  type Verdict,
  createConsentGate,
  toolAction,
} from "@acp/core";
import { describe, expect, it } from "vitest";
import { passkeyOf } from "./keys.js";
import type { Page, PageQuestion, PageStream } from "./page.js";
import { type Setup, settled, setUp } from "./setup.js";
import { memoryPasskeys } from "../src/memory-passkeys.js";
import type { AskTerms, RiskLevel } from "@acp/core";

const PEOPLE = [{ approver: "ada" }, { approver: "bob" }];

function gateFor(
  setup: Setup,
  terms: AskTerms & { readonly level?: RiskLevel } = {},
  options: Partial<GateOptions> = {},
) {
  let seq = -1;
  const { level = "medium", ...ask } = terms;
  const asks: Layer = {
    name: "asks",
    judge: () => ({
      effect: "ask",
      ruleId: "ask_all",
      reason: "everything is asked",
      level,
      ask: { timeoutMs: 60_000, ...ask },
    }),
  };
  const gate = createConsentGate({
    channel: setup.inbox.channel(),
    audit: {
      async append(events) {
        seq += events.length;
        return { seq, hash: `sha256:${"0".repeat(64)}` };
      },
    },
    approvers: PEOPLE.map(({ approver }) => ({ id: approver, channel: "web", subject: approver })),
    clock: setup.clock,
    layers: [asks],
    ...options,
  });
  const write = (path = "notes.txt"): Promise<Verdict> =>
    gate(toolAction("files", "write_file", { path }), { agent: { id: "agent-1" } });
  return { gate, write };
}

/** The next question that a page is told of. */
async function nextQuestion(
  stream: PageStream,
  wants: (question: PageQuestion) => boolean = () => true,
): Promise<PageQuestion> {
  for (let next = await stream.next(); next !== undefined; next = await stream.next()) {
    if (next === "comment") continue;
    const found =
      next.event === "hello"
        ? next.data.open.find(wants)
        : next.event === "open" && wants(next.data)
          ? next.data
          : undefined;
    if (found !== undefined) return found;
  }
  throw new Error("the stream ended");
}

async function answer(page: Page, id: string, more: object = {}) {
  const { status, body } = await page.post("/api/answers/prepare", {
    request_id: id,
    decision: "approved",
    ...more,
  });
  return status === 200 ? page.post("/api/answers", { ticket: body.ticket }) : { status, body };
}

describe("inbox under a gate", () => {
  it("takes a quorum: each person's yes counts once, and the last one ends it", async () => {
    const setup = setUp({ people: PEOPLE });
    const { gate, write } = gateFor(setup, { quorum: 2 });
    await using _closing = gate;
    const [ada, bob] = [await setup.signedIn("ada"), await setup.signedIn("bob")];
    const stream = await bob.events();
    const verdict = write();
    const { request } = await nextQuestion(stream);
    expect((await answer(ada, request.id)).body).toEqual({ status: "counted", have: 1, need: 2 });
    expect(await nextQuestion(stream)).toMatchObject({
      request: { quorum: 2 },
      have: 1,
      answered: false,
    });
    expect((await answer(ada, request.id)).body).toMatchObject({
      status: "refused",
      code: "already_answered",
    });
    expect((await answer(bob, request.id)).body).toEqual({ status: "final", outcome: "approved" });
    expect(await verdict).toMatchObject({ decision: "allow", approvers: ["ada", "bob"] });
    await settled();
    expect((await ada.get("/api/history")).body.entries).toMatchObject([
      { status: "approved", approvers: ["ada", "bob"] },
    ]);
  });

  it("lets who waits for a step answer when it is due, and says so", async () => {
    const setup = setUp({ people: PEOPLE });
    const { gate, write } = gateFor(setup, {
      approvers: ["ada"],
      escalate: [{ afterMs: 20_000, approvers: ["bob"] }],
    });
    await using _closing = gate;
    const bob = await setup.signedIn("bob");
    const stream = await bob.events();
    const verdict = write();
    const { request, may_answer } = await nextQuestion(stream);
    expect(may_answer).toBe(false);
    expect((await answer(bob, request.id)).body).toMatchObject({
      status: "refused",
      code: "approver_too_early",
    });
    await setup.clock.advance(20_000);
    await nextQuestion(stream, (question) => question.may_answer);
    expect((await answer(bob, request.id)).body).toEqual({ status: "final", outcome: "approved" });
    expect(await verdict).toMatchObject({ decision: "allow", approvers: ["bob"] });
  });

  it("takes an edit, and performs the edited action", async () => {
    const setup = setUp({ people: PEOPLE });
    const { gate, write } = gateFor(setup);
    await using _closing = gate;
    const page = await setup.signedIn();
    const stream = await page.events();
    const verdict = write();
    const { request } = await nextQuestion(stream);
    await answer(page, request.id, {
      decision: "approved_with_modifications",
      modifications: { path: "other.txt" },
    });
    expect(await verdict).toMatchObject({
      decision: "allow",
      action: { args: { path: "other.txt" } },
    });
  });

  it("refuses a yes to what takes a passkey without one, batch or not, and takes a no", async () => {
    const setup = setUp({ people: PEOPLE, passkeys: memoryPasskeys([passkeyOf("ada")]) });
    const verifier = {
      algorithm: "WebAuthn",
      verify: async () => ({ ok: false, reason: "the signature is wrong" }) as const,
    };
    const { gate, write } = gateFor(setup, { evidence: "passkey" }, { verifiers: [verifier] });
    await using _closing = gate;
    const page = await setup.signedIn();
    const stream = await page.events();
    const verdict = write();
    const { request, needs_passkey } = await nextQuestion(stream);
    expect(needs_passkey).toBe(true);
    expect(await answer(page, request.id)).toMatchObject({
      status: 403,
      body: { code: "passkey_required" },
    });
    const { body } = await page.post("/api/answers/prepare", {
      request_id: request.id,
      decision: "approved",
    });
    // What this test's inbox takes for an assertion is none: the gate has the last word, and the
    // question stays open.
    const { answerTo } = await import("./keys.js");
    const receipt = await page.post("/api/answers", {
      ticket: body.ticket,
      assertion: answerTo(body.passkey, "key-of-ada"),
    });
    expect(receipt.body).toMatchObject({ status: "refused", code: "evidence_invalid" });
    expect(
      (await answer(page, request.id, { decision: "denied", reason: "not now" })).body,
    ).toEqual({
      status: "final",
      outcome: "denied",
    });
    expect(await verdict).toMatchObject({ decision: "deny" });
  });

  it("tells a page that is open when a question expires; a late answer does nothing", async () => {
    const setup = setUp({ people: PEOPLE });
    const { gate, write } = gateFor(setup);
    await using _closing = gate;
    const page = await setup.signedIn();
    const stream = await page.events();
    const verdict = write();
    const { request } = await nextQuestion(stream);
    const { body } = await page.post("/api/answers/prepare", {
      request_id: request.id,
      decision: "approved",
    });
    await setup.clock.advance(60_000);
    expect(await verdict).toMatchObject({ decision: "deny", code: "consent_expired" });
    for (
      let next = await stream.next();
      next === "comment" || next?.event !== "ended";
      next = await stream.next()
    )
      expect(next).toBeDefined();
    expect(await page.post("/api/answers", { ticket: body.ticket })).toMatchObject({
      status: 409,
      body: { code: "question_ended" },
    });
  });

  it("takes one answer of two pages that answer at once", async () => {
    const setup = setUp({ people: PEOPLE });
    const { gate, write } = gateFor(setup);
    await using _closing = gate;
    const [one, other] = [await setup.signedIn(), await setup.signedIn()];
    const stream = await one.events();
    const verdict = write();
    const { request } = await nextQuestion(stream);
    const answered = await Promise.all([
      answer(one, request.id),
      answer(other, request.id, { decision: "denied" }),
    ]);
    const outcomes = answered.map(({ body }) => body.outcome ?? body.code);
    expect(
      outcomes.filter((outcome) => outcome === "approved" || outcome === "denied"),
    ).toHaveLength(1);
    expect((await verdict).decision).toBe(outcomes.includes("approved") ? "allow" : "deny");
  });

  it("keeps the questions of two gates apart", async () => {
    const setup = setUp({ people: PEOPLE });
    const [first, second] = [gateFor(setup), gateFor(setup)];
    await using _one = first.gate;
    await using _other = second.gate;
    const page = await setup.signedIn();
    const stream = await page.events();
    const verdicts = [first.write("one.txt"), second.write("two.txt")];
    const [one, two] = [await nextQuestion(stream), await nextQuestion(stream)];
    const idOf = (path: string): string =>
      [one, two].find(({ request }) => request.action.parameters["path"] === path)?.request.id ??
      "";
    await answer(page, idOf("two.txt"));
    await answer(page, idOf("one.txt"), { decision: "denied" });
    expect((await Promise.all(verdicts)).map(({ decision }) => decision)).toEqual([
      "deny",
      "allow",
    ]);
  });

  it("denies at once where none of the approvers signs in here", async () => {
    const setup = setUp({ people: [{ approver: "carol" }] });
    const { gate, write } = gateFor(setup);
    await using _closing = gate;
    expect(await write()).toMatchObject({ decision: "deny", code: "channel_unavailable" });
  });
});

import { type Claims, makeResponse } from "@acp/core";
import { askDouble, manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { OTHER_SECRET, SECRET, signed } from "../test/receiver.js";
import { createQuestions } from "./questions.js";
import { receive } from "./receive.js";
import { replaySet } from "./replay-set.js";
import { readSecrets } from "./secret.js";

function makeParts(overrides: { readonly claims?: Pick<Claims, "claimOnce"> } = {}) {
  const clock = manualClock();
  const questions = createQuestions();
  const ask = askDouble();
  questions.put(ask);
  const parts = {
    keys: readSecrets(SECRET),
    claims: replaySet(clock),
    questions,
    approvers: new Set(["alice"]),
    now: () => clock.now(),
  };
  const yes = (approverId = "alice", request = ask.request): string =>
    JSON.stringify(
      makeResponse(request, {
        decision: "approved",
        nowMs: clock.now(),
        channel: "webhook",
        approverId,
      }),
    );
  return { clock, questions, ask, yes, parts: { ...parts, ...overrides } };
}

// Which answers are taken and refused: spec/vectors/webhook-answers.json. Which signatures:
// spec/vectors/webhook.json.
describe("receive()", () => {
  it("hands an answer on as the person whom it names", async () => {
    const { clock, ask, yes, parts } = makeParts();
    const received = await receive(parts, signed(yes(), { nowMs: clock.now() }));
    expect(received).toEqual({ ok: true, receipt: { status: "final", outcome: "approved" } });
    expect(ask.submissions.map(({ subject }) => subject)).toEqual(["alice"]);
  });

  it("looks into nothing that is not signed, and keeps no id of it", async () => {
    const { clock, ask, yes, parts } = makeParts();
    const forged = signed(yes(), { id: "msg_1", nowMs: clock.now(), secret: OTHER_SECRET });
    expect(await receive(parts, forged)).toEqual({ ok: false, code: "signature_invalid" });
    expect(await receive(parts, { headers: {}, body: yes() })).toEqual({
      ok: false,
      code: "headers_missing",
    });
    expect(ask.submissions).toEqual([]);
    expect(await receive(parts, signed(yes(), { id: "msg_1", nowMs: clock.now() }))).toMatchObject({
      ok: true,
    });
  });

  it("takes an id once, whatever its first message said, for as long as a message is good", async () => {
    const { clock, ask, yes, parts } = makeParts();
    const stranger = signed(yes("mallory"), { id: "msg_1", nowMs: clock.now() + 300_000 });
    expect(await receive(parts, stranger)).toMatchObject({
      ok: true,
      receipt: { code: "approver_unknown" },
    });
    expect(await receive(parts, signed(yes(), { id: "msg_1", nowMs: clock.now() }))).toEqual({
      ok: false,
      code: "replayed",
    });
    await clock.advance(599_000);
    expect(await receive(parts, stranger)).toEqual({ ok: false, code: "replayed" });
    await clock.advance(2_000);
    expect(await receive(parts, stranger)).toEqual({
      ok: false,
      code: "timestamp_outside_tolerance",
    });
    expect(ask.submissions).toEqual([]);
  });

  it("of the same message ten times at once takes one", async () => {
    const { clock, ask, yes, parts } = makeParts();
    const message = signed(yes(), { nowMs: clock.now() });
    const all = await Promise.all(Array.from({ length: 10 }, () => receive(parts, message)));
    expect(all.filter(({ ok }) => ok)).toHaveLength(1);
    expect(ask.submissions).toHaveLength(1);
  });

  it("takes nothing where the ids cannot be kept", async () => {
    const { clock, ask, yes, parts } = makeParts({
      claims: { claimOnce: () => Promise.reject(new Error("disk full")) },
    });
    expect(await receive(parts, signed(yes(), { nowMs: clock.now() }))).toEqual({
      ok: false,
      code: "unavailable",
    });
    expect(ask.submissions).toEqual([]);
  });

  it("hands nothing on that is no whole answer, whoever would take it", async () => {
    const { clock, ask, parts } = makeParts();
    let handed = 0;
    Object.assign(ask.session, {
      submit: () => Promise.resolve({ status: "final", outcome: "approved", handed: handed++ }),
    });
    for (const changes of [
      { approved: "no" },
      { decision: "yes" },
      { decision: true },
      { version: "1" },
    ]) {
      const answer = makeResponse(ask.request, {
        decision: "approved",
        nowMs: clock.now(),
        channel: "webhook",
        approverId: "alice",
      });
      const received = await receive(
        parts,
        signed(JSON.stringify({ ...answer, ...changes }), { nowMs: clock.now() }),
      );
      expect(received).toMatchObject({
        ok: true,
        receipt: { status: "refused", code: "response_invalid" },
      });
    }
    expect(handed).toBe(0);
  });

  it("takes for one question only what names it", async () => {
    const { clock, questions, ask, yes, parts } = makeParts();
    const other = askDouble();
    questions.put(other);
    const received = await receive(
      parts,
      signed(yes("alice", other.request), { nowMs: clock.now() }),
      ask.request.id,
    );
    expect(received).toMatchObject({
      ok: true,
      receipt: { status: "refused", code: "request_unknown" },
    });
    expect([...ask.submissions, ...other.submissions]).toEqual([]);
  });

  it("tells an answer that comes late that the question is over", async () => {
    const { clock, questions, ask, yes, parts } = makeParts();
    questions.end(ask);
    const received = await receive(parts, signed(yes(), { nowMs: clock.now() }));
    expect(received).toMatchObject({
      ok: true,
      receipt: { status: "refused", code: "request_ended" },
    });
  });
});

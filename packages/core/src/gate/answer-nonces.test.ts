import { describe, expect, it } from "vitest";
import { agent, asPending, first, last, makeKit, reply } from "../../test/gate-kit.js";
import { type GateOptions, memoryStore, toolAction } from "../index.js";
import { parsePolicy } from "../policy.js";

const write = toolAction("files", "write_file", { path: "a.txt", content: "hello" });
const people = ["alice", "bob", "carol"].map((id) => ({ id, channel: "test", subject: id }));
const quorumOfTwo = parsePolicy({
  version: "1",
  rules: [{ id: "two", match: { kind: "*" }, action: "ask", quorum: 2 }],
});

async function asked(options: Partial<GateOptions>) {
  const kit = makeKit(options);
  void kit.gate(write, { agent });
  await kit.settle();
  return { ...kit, question: first(kit.shown) };
}

describe("nonces", () => {
  /**
   * A second life of the same question: the store of questions is set back to before the answer,
   * the claims are kept.
   */
  async function setBack(decision: "approved" | "denied") {
    const kit = makeKit();
    const store = memoryStore(kit.clock);
    const before = makeKit({ clock: kit.clock, store, policy: quorumOfTwo, approvers: people });
    const opened = asPending(await before.gate.open(write, { agent }));
    await before.settle();
    const kept = await store.pending.get(opened.requestId);
    const question = first(before.shown);
    const claim = reply(question, { decision });
    await question.session.submit(claim, { subject: "alice" });
    if (kept === undefined) throw new Error("the question was not kept");
    const pending = memoryStore(kit.clock).pending;
    await pending.put(kept);
    const after = makeKit({
      clock: kit.clock,
      store: { ...store, pending },
      policy: quorumOfTwo,
      approvers: people,
    });
    await after.gate.resume();
    await after.settle();
    return { after, claim, question: first(after.shown), pending };
  }

  it.each(["approved", "denied"] as const)(
    "an answer (%s) is not taken again after a restart that set the questions back",
    async (decision) => {
      const { after, claim, question, pending } = await setBack(decision);
      expect(await question.session.submit(claim, { subject: "alice" })).toMatchObject({
        status: "refused",
        code: "already_answered",
      });
      expect(await pending.get(question.request.id)).toMatchObject({
        status: "delivered",
        approvals: [],
      });
      expect(last(after.sink.events)).toMatchObject({
        eventType: "consent_refused",
        metadata: { code: "already_answered" },
      });
    },
  );

  it("serve every approver of a quorum, and somebody who said yes for a no", async () => {
    const { claim, question } = await setBack("approved");
    expect(await question.session.submit(claim, { subject: "bob" })).toMatchObject({
      status: "counted",
      have: 1,
    });
    expect(
      await question.session.submit({ ...claim, decision: "denied" }, { subject: "alice" }),
    ).toMatchObject({
      status: "final",
      outcome: "denied",
    });
  });

  it("are kept until the question is out of time by itself", async () => {
    const claims: (readonly [string, number])[] = [];
    const kit = makeKit();
    const claimOnce = (key: string, ttlMs: number): Promise<boolean> =>
      Promise.resolve(claims.push([key, ttlMs]) > 0);
    const store = { claims: { ...memoryStore(kit.clock).claims, claimOnce } };
    const { question } = await asked({ store, clock: kit.clock });
    await kit.clock.advance(20_000);
    await question.session.submit(reply(question, { decision: "approved" }));
    expect(claims).toEqual([
      [`nonce:${question.request.nonce}:yes:local`, 100_000 + 300_000],
      [`ended:${question.request.id}`, 100_000 + 300_000],
    ]);
  });

  it("deny the answer where the store of claims fails, and leave the question open", async () => {
    const claims = {
      ...memoryStore(makeKit().clock).claims,
      claimOnce: () => Promise.reject(new Error("down")),
    };
    const store = { claims };
    const { question, gate } = await asked({ store });
    expect(await question.session.submit(reply(question, { decision: "approved" }))).toMatchObject({
      status: "refused",
      code: "store_failed",
    });
    await gate.close();
  });
});

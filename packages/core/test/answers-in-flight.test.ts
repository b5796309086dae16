/**
 * A process that ends between the claim of an answer's nonce and the record of the answer: whoever
 * answered may do so again, and what counted before never counts a second time.
 */
import { manualClock, seededIds } from "@acp/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AnswerReceipt,
  type GateOptions,
  memoryStore,
  type PendingRecord,
  type PendingStore,
} from "../src/index.js";
import { parsePolicy } from "../src/policy.js";
import { first, type Kit, makeKit, reply } from "./gate-kit.js";
import { defer, only } from "./stored-kit.js";

const people = ["alice", "bob"].map((id) => ({ id, channel: "test", subject: id }));
const quorumOfTwo = parsePolicy({
  version: "1",
  rules: [{ id: "two", match: { kind: "*" }, action: "ask", quorum: 2 }],
});

type Decision = "approved" | "denied";

const say = (kit: Kit, subject: string, decision: Decision = "approved"): Promise<AnswerReceipt> =>
  first(kit.shown).session.submit(reply(first(kit.shown), { decision }), { subject });

/** Processes one after the other, with one set of claims that nobody sets back. */
function machine(options: Partial<GateOptions> = {}) {
  const clock = manualClock();
  const ids = seededIds();
  const store = memoryStore(clock);
  const start = (pending: PendingStore): Kit =>
    makeKit({ clock, ids, approvers: people, ...options, store: { ...store, pending } });
  return {
    pending: store.pending,
    start,
    /** A process that asks one question, and whose caller will call again. */
    async asked(): Promise<Kit> {
      const kit = start(store.pending);
      await defer(kit);
      return kit;
    },
    /** A process that ends as it records an answer. */
    async endsAnswering(subject: string, decision: Decision = "approved"): Promise<void> {
      let isAnswered = false;
      const hanging: PendingStore = {
        ...store.pending,
        transition: (...change) =>
          isAnswered ? new Promise(() => undefined) : store.pending.transition(...change),
      };
      const kit = start(hanging);
      await kit.gate.resume(await unanswered(store.pending));
      await kit.settle();
      isAnswered = true;
      void say(kit, subject, decision);
      await kit.settle();
    },
    /** The next process, which has read the log. */
    async next(pending: PendingStore = store.pending, isUnanswered = true): Promise<Kit> {
      const kit = start(pending);
      await kit.gate.resume(isUnanswered ? await unanswered(pending) : {});
      await kit.settle();
      return kit;
    },
  };
}

const unanswered = async (pending: PendingStore) => ({
  unanswered: new Set([(await only(pending)).id]),
});

/** What a store is that somebody set back to an earlier record. */
async function setBack(record: PendingRecord): Promise<PendingStore> {
  const { pending } = memoryStore(manualClock());
  await pending.put(record);
  return pending;
}

describe("an answer whose process ended as it took it", () => {
  it.each(["approved", "denied"] as const)(
    "is taken when the person gives it again: %s",
    async (decision) => {
      const { asked, endsAnswering, next } = machine();
      await asked();
      await endsAnswering("alice", decision);
      expect(await say(await next(), "alice", decision)).toEqual({
        status: "final",
        outcome: decision,
      });
    },
  );

  it("is taken after any number of such ends", async () => {
    const { asked, endsAnswering, next } = machine();
    await asked();
    for (let times = 0; times < 3; times++) await endsAnswering("alice");
    expect(await say(await next(), "alice")).toMatchObject({ outcome: "approved" });
  });

  it("stays used where the log does not show that nobody was counted", async () => {
    const { asked, endsAnswering, next, pending } = machine();
    await asked();
    await endsAnswering("alice");
    const kit = await next(pending, false);
    expect(await say(kit, "alice")).toMatchObject({ code: "already_answered" });
    expect(await say(kit, "bob")).toMatchObject({ outcome: "approved" });
  });

  it("counts once towards a quorum, given again at once or one after the other", async () => {
    const { asked, endsAnswering, next } = machine({ policy: quorumOfTwo });
    await asked();
    await endsAnswering("alice");
    const kit = await next();
    const both = await Promise.all([say(kit, "alice"), say(kit, "alice")]);
    expect(both.map(({ status }) => status).sort()).toEqual(["counted", "refused"]);
    expect(await say(kit, "alice")).toMatchObject({ code: "already_answered" });
    expect(await say(kit, "bob")).toMatchObject({ outcome: "approved" });
  });

  it("is refused of whom the record has counted, and the next person completes it", async () => {
    const { asked, endsAnswering, next } = machine({ policy: quorumOfTwo });
    await say(await asked(), "alice");
    await endsAnswering("bob");
    const kit = await next();
    expect(await say(kit, "alice")).toMatchObject({ code: "already_answered" });
    expect(await say(kit, "bob")).toMatchObject({ outcome: "approved" });
  });

  it("is taken once by a process, also where its store goes back behind it", async () => {
    const { asked, endsAnswering, next, pending } = machine({ policy: quorumOfTwo });
    await asked();
    await endsAnswering("alice");
    const open = await only(pending);
    let isBack = false;
    // The MAC leaves the version to the store: the gate cannot see by it that this one is older.
    const kit = await next({
      ...pending,
      get: (id) => (isBack ? Promise.resolve({ ...open, version: 100 }) : pending.get(id)),
      transition: (...change) => (isBack ? Promise.resolve(true) : pending.transition(...change)),
    });
    expect(await say(kit, "alice")).toMatchObject({ status: "counted" });
    isBack = true;
    expect(await say(kit, "alice")).toMatchObject({ code: "already_answered" });
    expect(await say(kit, "bob")).toMatchObject({ status: "counted", have: 1 });
  });
});

describe("a question that ended, in a store that was set back", () => {
  it.each<readonly [Decision, Decision]>([
    ["approved", "approved"],
    ["denied", "approved"],
  ])("with %s takes no %s, though its log were set back as well", async (was, replayed) => {
    const { asked, next, pending } = machine();
    const before = await asked();
    const open = await only(pending);
    await say(before, "alice", was);
    const kit = await next(await setBack(open));
    expect(await say(kit, "alice", replayed)).toMatchObject({ outcome: "failed" });
  });
});

it("over any crashes and answers, each person counts once and a question ends once", async () => {
  const step = fc.record({
    who: fc.constantFrom("alice", "bob"),
    ends: fc.boolean(),
    decision: fc.constantFrom<Decision>("approved", "approved", "denied"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const { asked, endsAnswering, next, pending } = machine({ policy: quorumOfTwo });
      await asked();
      const { id } = await only(pending);
      const yeses = new Set<string>();
      let outcome: string | undefined;
      for (const { who, ends, decision } of steps) {
        if (outcome === undefined && ends) await endsAnswering(who, decision);
        if (outcome !== undefined || ends) continue;
        const receipt = await say(await next(), who, decision);
        // Who counted is refused a second yes; every other answer is taken, whatever crashed before.
        if (decision === "approved" && yeses.has(who)) {
          expect(receipt).toMatchObject({ code: "already_answered" });
          continue;
        }
        if (decision === "approved") yeses.add(who);
        const isOver = decision === "denied" || yeses.size === 2;
        if (isOver) outcome = decision;
        expect(receipt).toMatchObject(isOver ? { outcome } : { status: "counted", have: 1 });
      }
      const record = await pending.get(id);
      expect(record?.end?.status).toBe(outcome);
      expect(record?.approvals.map(({ approverId }) => approverId).sort()).toEqual(
        [...yeses].sort(),
      );
    }),
  );
});

/**
 * One test a guard on earlier consents and on what a store says: each goes red when its guard is
 * taken out.
 */
import { describe, expect, it } from "vitest";
import { callScope } from "../src/approval/offers.js";
import { covers } from "../src/gate/covers.js";
import { bootTimeOf } from "../src/boot-time.js";
import {
  type AskTerms,
  type Evaluation,
  type EvidenceVerifier,
  type Grant,
  type Layer,
  memoryStore,
  type PendingRecord,
  type Store,
  toolAction,
} from "../src/index.js";
import { PART_TIMEOUT_MS } from "../src/limits.js";
import { agent, asPending, first, macs, makeKit, reply } from "./gate-kit.js";

const write = toolAction("files", "write_file", { path: "a.txt" });

const asks = (ask: AskTerms, more: object = {}): Layer => ({
  name: "asks",
  judge: () => ({ effect: "ask", ruleId: "asks", reason: "", ask, ...more }),
});

describe("covers()", () => {
  const request = {
    secrets: ["A"],
    quorum: 1,
    evidence: "any",
    approvers: ["alice"],
    action: { riskLevel: "medium" },
    policy: { ruleId: "r", ruleName: "", requiredLevel: "medium" },
  } as never;
  const ask = { timeoutMs: 1, quorum: 1, evidence: "any", offers: [] } as const;
  const evaluation = (change: object, ruling: object = {}): Evaluation => {
    const whole = { effect: "ask", ruleId: "r", reason: "", ...ruling } as const;
    return {
      ruling: whole,
      layer: "l",
      rulings: [{ layer: "l", ruling: whole }],
      category: "write",
      risk: "medium",
      level: "medium",
      ask,
      ...change,
    };
  };

  it("holds for the same terms, for fewer, and where an allow needs no person", () => {
    expect(covers(request, evaluation({}))).toBe(true);
    expect(covers(request, evaluation({ level: "low" }, { secrets: ["A"] }))).toBe(true);
    expect(covers(request, evaluation({ ask: { ...ask, approvers: ["alice", "bob"] } }))).toBe(
      true,
    );
    expect(covers(request, evaluation({}, { effect: "allow" }))).toBe(true);
    const escalate = [
      { afterMs: 5, approvers: ["alice", "bob"] },
      { afterMs: 9, channel: "web" },
    ];
    const waiting = {
      ...(request as object),
      escalation: [{ afterMs: 5, approvers: ["alice"] }],
    } as never;
    expect(covers(waiting, evaluation({ ask: { ...ask, escalate } }))).toBe(true);
  });

  it.each([
    ["a deny", evaluation({}, { effect: "deny" })],
    ["another secret", evaluation({}, { secrets: ["A", "B"] })],
    ["another secret of an allow", evaluation({}, { effect: "allow", secrets: ["B"] })],
    ["more people", evaluation({ ask: { ...ask, quorum: 2 } })],
    ["a higher level", evaluation({ level: "high" })],
    ["a tool that is critical by now", evaluation({ risk: "critical" })],
    ["stronger evidence", evaluation({ ask: { ...ask, evidence: "passkey" } })],
    [
      "somebody who would have to wait",
      evaluation({ ask: { ...ask, escalate: [{ afterMs: 5, approvers: ["alice"] }] } }),
    ],
    ["other people", evaluation({ ask: { ...ask, approvers: ["bob"] } })],
    ["an ask without terms", evaluation({ ask: undefined })],
  ])("does not hold for %s", (_, now) => {
    expect(covers(request, now)).toBe(false);
  });

  it.each([
    ["named people", { ...ask, approvers: ["alice"] }],
    ["people who would have to wait", { ...ask, escalate: [{ afterMs: 5, approvers: ["bob"] }] }],
  ])("does not hold for %s where anybody could answer", (_, now) => {
    const anybody = { ...(request as object), approvers: undefined } as never;
    expect(covers(anybody, evaluation({}))).toBe(true);
    expect(covers(anybody, evaluation({ ask: now }))).toBe(false);
  });
});

describe("a grant", () => {
  const grant: Grant = {
    id: "gr_1",
    agentId: "demo",
    scope: { kind: "tool", server: "files", name: "write_file" },
    createdAtMs: 0,
    expiresAtMs: Number.MAX_SAFE_INTEGER,
    requestId: "cr_0",
    approverIds: ["alice"],
    evidence: "any",
    secrets: ["A"],
  };
  const offers = [{ id: "t", scope: grant.scope, ttlMs: 60_000 }];
  async function isAsked(
    layer: Layer,
    approvers: readonly string[] = ["alice", "bob"],
    as = (given: Store): Store => given,
  ): Promise<boolean> {
    const { clock } = makeKit();
    const store = memoryStore(clock);
    await store.grants.put(
      macs.grant.sign({ ...grant, createdAtMs: clock.now(), created: bootTimeOf(clock) }),
    );
    const people = approvers.map((id) => ({ id, channel: "test", subject: id }));
    const verifiers = [
      { algorithm: "WebAuthn", verify: () => Promise.resolve({ ok: true }) } as EvidenceVerifier,
    ];
    const { gate, shown, settle } = makeKit({
      store: as(store),
      clock,
      layers: [layer],
      approvers: people,
      verifiers,
    });
    void gate(write, { agent });
    await settle();
    return shown.length > 0;
  }

  it("does not answer where its store has it no more when it is used", async () => {
    const revoking = ({ grants, ...store }: Store): Store => {
      const find: Store["grants"]["find"] = async (...asked) => {
        const found = await grants.find(...asked);
        await grants.revoke(grant.id);
        return found;
      };
      return { ...store, grants: { ...grants, find } };
    };
    expect(await isAsked(asks({ offers }), ["alice"], revoking)).toBe(true);
  });

  it("answers an ask that wants no more than it gives", async () => {
    expect(await isAsked(asks({ offers, approvers: ["alice"] }, { secrets: ["A"] }))).toBe(false);
  });

  it.each<[string, Layer]>([
    ["several people", asks({ offers, quorum: 2 })],
    ["a person who did not give it", asks({ offers, approvers: ["bob"] })],
    ["a passkey", asks({ offers, evidence: "passkey" })],
    ["a secret that its question did not show", asks({ offers }, { secrets: ["B"] })],
    ["a critical level", asks({ offers }, { level: "critical" })],
    ["what would offer nothing", asks({})],
    [
      "what would offer something narrower",
      asks({ offers: [{ id: "c", scope: callScope(write), ttlMs: 60_000 }] }),
    ],
  ])("does not answer an ask for %s", async (_, layer) => {
    expect(await isAsked(layer)).toBe(true);
  });

  it("does not answer where its giver is no approver any more", async () => {
    expect(await isAsked(asks({ offers }), ["bob"])).toBe(true);
  });

  it("is not offered for a critical level or a quorum", async () => {
    for (const layer of [asks({ offers }, { level: "critical" }), asks({ offers, quorum: 2 })]) {
      const people = ["alice", "bob"].map((id) => ({ id, channel: "test", subject: id }));
      const { gate, shown, settle } = makeKit({ layers: [layer], approvers: people });
      void gate(write, { agent });
      await settle();
      expect(first(shown).request.offers).toEqual([]);
    }
  });
});

describe("a store that lies", () => {
  it.each([
    ["that it made up", (record: PendingRecord) => record, { code: "consent_expired" }],
    ["that a gate's key signed", macs.question.sign, { code: "internal_error" }],
  ])(
    "cannot have another action released than the one that was approved, by a record %s",
    async (_by, sign, denied) => {
      const { clock } = makeKit();
      const store = memoryStore(clock);
      const { gate, shown, settle } = makeKit({ store, clock });
      const verdict = gate(write, { agent });
      await settle();
      const { id } = first(shown).request;
      const record = await store.pending.get(id);
      if (record === undefined) throw new Error("no record");
      const swapped = {
        ...record,
        version: record.version + 1,
        action: { name: "delete_file", args: {}, meta: { kind: "tool", server: "files" } },
      };
      await store.pending.transition(id, record.version, sign(swapped));
      await first(shown).session.submit(reply(first(shown), { decision: "approved" }));
      // What nobody can answer any more has no end in the store: the caller's own time is over by
      // then.
      await clock.advance(120_000 + PART_TIMEOUT_MS);
      expect(await verdict).toMatchObject({ decision: "deny", ...denied });
    },
  );

  it("cannot have a decision adopted whose end is not recorded", async () => {
    const { clock } = makeKit();
    const store = memoryStore(clock);
    const { gate, shown, settle } = makeKit({ store, clock });
    await asPending(await gate.open(write, { agent })).defer();
    await settle();
    await first(shown).session.submit(reply(first(shown), { decision: "approved" }));
    const honest = store.pending.takeDecision.bind(store.pending);
    const lying = {
      ...store.pending,
      takeDecision: async (...args: Parameters<typeof honest>) => {
        const record = await honest(...args);
        return record?.end === undefined
          ? record
          : macs.question.sign({ ...record, end: { ...record.end, recorded: false } });
      },
    };
    const retry = makeKit({ store: { ...store, pending: lying }, clock });
    expect(await retry.gate(write, { agent })).toMatchObject({
      decision: "deny",
      code: "internal_error",
    });
  });
});

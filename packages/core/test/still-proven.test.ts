/**
 * A consent that a passkey gave is used again only while that passkey counts, and only for what the
 * person took.
 */
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import {
  type EvidenceVerifier,
  type Grant,
  type JsonObject,
  type Layer,
  memoryStore,
  type PendingRecord,
  toolAction,
  type Verdict,
} from "../src/index.js";
import { agent, asPending, first, type Kit, macs, makeKit, reply } from "./gate-kit.js";

const write = toolAction("files", "write_file", { path: "a.txt" });
const scope = { kind: "tool", server: "files", name: "write_file" } as const;
const layer: Layer = {
  name: "passkey",
  judge: () => ({
    effect: "ask",
    ruleId: "p",
    reason: "",
    ask: { evidence: "passkey", offers: [{ id: "t", scope, ttlMs: 300_000 }] },
  }),
};

/**
 * Stands for a person's passkeys: what a proof says counts while its key is not revoked. What a
 * proof is over is channel-web's to test.
 */
function passkeys(): EvidenceVerifier & {
  revoked: boolean;
  readonly uses: (boolean | undefined)[];
  fails: boolean;
} {
  const uses: (boolean | undefined)[] = [];
  return {
    algorithm: "WebAuthn",
    revoked: false,
    fails: false,
    uses,
    verify(_response, _request, _keys, use) {
      uses.push(use?.reuse);
      if (this.fails) return Promise.reject(new Error("the file is gone"));
      return Promise.resolve(
        this.revoked && use?.reuse === true
          ? { ok: false, reason: "the passkey was revoked" }
          : { ok: true },
      );
    },
  };
}

interface World {
  readonly verifier: ReturnType<typeof passkeys>;
  readonly store: ReturnType<typeof memoryStore>;
  start(): Kit;
}

function world(): World {
  const clock = manualClock();
  const store = memoryStore(clock);
  const verifier = passkeys();
  return {
    verifier,
    store,
    start: () =>
      makeKit({ clock, store, layers: [layer], verifiers: [verifier], lastEventMs: clock.now() }),
  };
}

const proven = (question: Parameters<typeof reply>[0], more: object = {}): JsonObject => ({
  ...reply(question, { decision: "approved", approverId: "local", ...more }),
  proof: { algorithm: "WebAuthn" },
});

const yes = {
  async grant({ start }: World): Promise<void> {
    const kit = start();
    const verdict = kit.gate(write, { agent });
    await kit.settle();
    await first(kit.shown).session.submit(proven(first(kit.shown), { grantId: "t" }));
    if ((await verdict).decision !== "allow") throw new Error("the yes was not taken");
  },
  async decision({ start }: World): Promise<void> {
    const kit = start();
    await asPending(await kit.gate.open(write, { agent })).defer();
    await kit.settle();
    const receipt = await first(kit.shown).session.submit(proven(first(kit.shown)));
    if (receipt.status !== "final") throw new Error("the yes was not taken");
  },
} as const;

async function verdictOf(kit: Kit): Promise<Verdict | undefined> {
  let verdict: Verdict | undefined;
  void kit.gate(write, { agent }).then((given) => (verdict = given));
  await kit.settle();
  return verdict;
}

describe.each(["grant", "decision"] as const)("a kept %s", (kind) => {
  it("stands on its passkey each time it is used", async () => {
    const made = world();
    await yes[kind](made);
    expect(await verdictOf(made.start())).toMatchObject({ decision: "allow" });
    expect(made.verifier.uses).toEqual([false, true]);
  });

  it.each(["revoked", "fails"] as const)("ends with its passkey: %s", async (how) => {
    const made = world();
    await yes[kind](made);
    made.verifier[how] = true;
    const kit = made.start();
    expect(await verdictOf(kit)).toBeUndefined();
    expect(kit.sink.events).toContainEqual(
      expect.objectContaining({
        eventType: "stored_record_ignored",
        metadata: expect.objectContaining({ reason: "its proof does not hold anymore" }),
      }),
    );
  });
});

describe("a permit of a grant", () => {
  it("is not performed once the passkey behind the grant was revoked", async () => {
    const made = world();
    await yes.grant(made);
    const kit = made.start();
    const verdict = await verdictOf(kit);
    made.verifier.revoked = true;
    if (verdict?.decision !== "allow") throw new Error("no grant was used");
    expect(await kit.gate.perform(verdict, () => Promise.resolve(1))).toMatchObject({ ran: false });
  });
});

describe("who can read the key", () => {
  const stolen = (grant: Grant, change: object): Grant => macs.grant.sign({ ...grant, ...change });
  const other = { kind: "tool", server: "files", name: "delete_file" } as const;

  it.each([
    [
      "another agent",
      (grant: Grant) =>
        stolen(grant, { agentId: "demo", request: { ...grant.request, agent: { id: "other" } } }),
    ],
    [
      "another scope",
      (grant: Grant) =>
        stolen(grant, {
          request: { ...grant.request, offers: [{ id: "t", scope: other, ttlMs: 300_000 }] },
        }),
    ],
    ["a longer time", (grant: Grant) => stolen(grant, { expiresAtMs: grant.expiresAtMs + 1 })],
    ["more uses", (grant: Grant) => stolen(grant, { uses: 1_000, usesLeft: 1_000 })],
    ["other people", (grant: Grant) => stolen(grant, { approverIds: ["local", "ann"] })],
    ["more secrets", (grant: Grant) => stolen(grant, { secrets: ["TOKEN"] })],
    ["another question", (grant: Grant) => stolen(grant, { requestId: "cr_other" })],
    ["no question", ({ request: _request, ...grant }: Grant) => stolen(grant, {})],
    ["no answer", (grant: Grant) => stolen(grant, { responses: [] })],
    [
      "an answer without a passkey",
      (grant: Grant) =>
        stolen(grant, {
          responses: [{ ...grant.responses?.[0], proof: { algorithm: "Ed25519" } }],
        }),
    ],
    [
      "a no",
      (grant: Grant) =>
        stolen(grant, { responses: [{ ...grant.responses?.[0], decision: "denied" }] }),
    ],
    [
      "another nonce",
      (grant: Grant) =>
        stolen(grant, { responses: [{ ...grant.responses?.[0], nonce: "n_other" }] }),
    ],
  ])("makes no passkey's grant of it for %s", async (_what, change) => {
    const made = world();
    await yes.grant(made);
    const grant = first(await made.store.grants.list());
    await made.store.grants.put(change(grant));
    expect(await verdictOf(made.start())).toBeUndefined();
  });

  it.each([
    [
      "another action",
      { action: { name: "delete_file", args: {}, meta: { kind: "tool", server: "files" } } },
      {},
    ],
    ["edited parameters", {}, { modifications: { path: "b" } }],
    ["other people", {}, { approverIds: ["local", "ann"] }],
    ["no answer", {}, { responses: [] }],
  ])("makes no passkey's decision of it for %s", async (_what, change, end) => {
    const made = world();
    await yes.decision(made);
    const takeDecision = made.store.pending.takeDecision.bind(made.store.pending);
    made.store.pending.takeDecision = async (...args): Promise<PendingRecord | undefined> => {
      const record = await takeDecision(...args);
      if (record?.end === undefined) return undefined;
      return macs.question.sign({ ...record, ...change, end: { ...record.end, ...end } });
    };
    expect(await verdictOf(made.start())).toBeUndefined();
  });
});

/**
 * What an edit makes: a question that asks no less than the one in whose place it comes, or nothing
 * where it cannot be kept.
 */
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import {
  agent,
  first,
  type Kit,
  last,
  makeKit,
  recordingSink,
  reply,
  type Shown,
} from "../../test/gate-kit.js";
import {
  type AnswerReceipt,
  type EvidenceVerifier,
  type GateOptions,
  type JsonObject,
  type Layer,
  memoryStore,
  type Ruling,
  toolAction,
} from "../index.js";

const scope = { kind: "tool", server: "files", name: "write_file" } as const;
const offers = [{ id: "t", scope, ttlMs: 60_000 }];
const passkeys = {
  algorithm: "WebAuthn",
  verify: () => Promise.resolve({ ok: true }),
} as EvidenceVerifier;

/** Asks by the call's `path`: as its name says. */
const byPath: Layer = {
  name: "by-path",
  judge(action): Ruling {
    const { path } = action.args as { readonly path: string };
    const level = path.includes("strict") ? "high" : "low";
    return {
      effect: "ask",
      ruleId: path,
      reason: "",
      level,
      ask: { offers, evidence: path.includes("passkey") ? "passkey" : "any" },
    };
  },
};

async function asked(
  path: string,
  options: Partial<GateOptions> = {},
  session?: string,
): Promise<Kit & { readonly verdict: Promise<unknown> }> {
  const kit = makeKit({ layers: [byPath], verifiers: [passkeys], ...options });
  const verdict = kit.gate(toolAction("files", "write_file", { path }), { agent, session });
  await kit.settle();
  return { ...kit, verdict };
}

const edit = (question: Shown, modifications: JsonObject): Promise<AnswerReceipt> =>
  question.session.submit(
    reply(question, { decision: "approved_with_modifications", modifications }),
  );

describe("an edit", () => {
  it("keeps the passkey that the question wanted, and takes on the one that its own rule wants", async () => {
    for (const [before, after] of [
      ["passkey", "strict"],
      ["any", "passkey"],
    ] as const) {
      const { shown, settle } = await asked(before);
      const { request } = first(shown);
      const terms = {
        decision: "approved_with_modifications",
        modifications: { path: after },
        approverId: "local",
      } as const;
      const answer = { ...reply(first(shown), terms), proof: { algorithm: "WebAuthn" } };
      expect(await first(shown).session.submit(answer)).toMatchObject({ status: "reshow" });
      await settle();
      expect(last(shown).request.id).not.toBe(request.id);
      expect(last(shown).request).toMatchObject({ evidence: "passkey", offers: [] });
      expect(
        await last(shown).session.submit(reply(last(shown), { decision: "approved" })),
      ).toMatchObject({ code: "evidence_required" });
    }
  });

  it("of an edit is judged in the session of the call", async () => {
    const sessions = new Set<unknown>();
    const noting: Layer = {
      name: "noting",
      judge: (_action, { session }) => void sessions.add(session),
    };
    const { shown, settle } = await asked("a", { layers: [byPath, noting] }, "prod");
    await edit(first(shown), { path: "strict" });
    await settle();
    expect(await edit(last(shown), { path: "strict-too" })).toMatchObject({ status: "final" });
    expect(sessions).toEqual(new Set(["prod"]));
  });

  it("has nobody wait longer than the question had them wait, nor less long", async () => {
    const waiting: Layer = {
      name: "waiting",
      judge(action): Ruling {
        const { path } = action.args as { readonly path: string };
        const times =
          path === "a"
            ? { approvers: ["ada"], escalate: [{ afterMs: 60_000, approvers: ["bob"] }] }
            : {};
        return {
          effect: "ask",
          ruleId: path,
          reason: "",
          level: path === "a" ? "low" : "high",
          ask: times,
        };
      },
    };
    const approvers = ["ada", "bob"].map((id) => ({ id, channel: "test", subject: id }));
    const { shown, clock, settle } = await asked("a", { layers: [waiting], approvers });
    await clock.advance(40_000);
    const answer = reply(first(shown), {
      decision: "approved_with_modifications",
      modifications: { path: "b" },
    });
    expect(await first(shown).session.submit(answer, { subject: "ada" })).toMatchObject({
      status: "reshow",
    });
    await settle();
    expect(last(shown).request).toMatchObject({
      approvers: ["ada", "bob"],
      escalation: [{ afterMs: 20_000, approvers: ["bob"] }],
    });
  });

  it("that changes nothing is a plain yes", async () => {
    const { shown, verdict } = await asked("a");
    expect(await edit(first(shown), { path: "a" })).toEqual({
      status: "final",
      outcome: "approved",
    });
    expect(await verdict).toMatchObject({ code: "consent_approved" });
  });

  it("takes no offer: that was for the call as it was proposed", async () => {
    const { shown } = await asked("a");
    const answer = reply(first(shown), {
      decision: "approved_with_modifications",
      modifications: { path: "b" },
      grantId: "t",
    });
    expect(await first(shown).session.submit(answer)).toMatchObject({
      status: "refused",
      code: "grant_not_offered",
    });
  });

  it("that nobody could read whole is refused", async () => {
    const rows = Array.from({ length: 12_000 }, () => [[[[[[[[1]]]]]]]]);
    const { shown } = await asked("a");
    const receipt = await edit(first(shown), { path: "strict", rows });
    expect({ ...receipt, request: undefined }).toMatchObject({
      code: "modification_denied",
      reason: "the edited action is too large to be shown whole",
    });
  });

  it("is refused where its question cannot be kept", async () => {
    const clock = manualClock();
    const store = memoryStore(clock);
    const { shown } = await asked("a", { clock, store });
    store.pending.put = () => Promise.resolve(false);
    expect(await edit(first(shown), { path: "strict" })).toMatchObject({
      status: "refused",
      code: "store_failed",
    });
    expect(shown).toHaveLength(1);
  });

  it("shows nothing where the log cannot keep it: both questions are over", async () => {
    const sink = recordingSink();
    const { shown, settle, verdict } = await asked("a", { audit: sink });
    sink.mode = "throws";
    expect(await edit(first(shown), { path: "strict" })).toEqual({
      status: "final",
      outcome: "failed",
    });
    sink.mode = "works";
    await settle();
    expect(shown).toHaveLength(1);
    expect(await verdict).toMatchObject({ decision: "deny", code: "audit_failed" });
  });
});

/**
 * Whatever happens to a question, in any order: one verdict, and a yes only where a person gave it
 * first.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AGENT, LAPTOP, openDesk, PHONE, REVIEWED } from "./desk.js";

type Step =
  | "allow"
  | "deny"
  | "allow elsewhere"
  | "stranger"
  | "wait"
  | "time over"
  | "abort"
  | "cancel"
  | "close";

const STEPS: readonly Step[] = [
  "allow",
  "deny",
  "allow elsewhere",
  "stranger",
  "wait",
  "time over",
  "abort",
  "cancel",
  "close",
];
/** The first of these decides; the others decide nothing. */
const ENDS: Readonly<Partial<Record<Step, "allow" | "deny">>> = {
  allow: "allow",
  "allow elsewhere": "allow",
  deny: "deny",
  "time over": "deny",
  abort: "deny",
  cancel: "deny",
  close: "deny",
};

describe("a hub's question", () => {
  it("a hub's question has the verdict of the first thing that ends it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { maxLength: 6 }), async (steps) => {
        const desk = await openDesk();
        const stop = new AbortController();
        const verdict = desk.hub.onApprovalNeeded(REVIEWED, { ...AGENT, signal: stop.signal });
        const { approvalId } = await desk.request();
        const answer = (decision: "allow-once" | "deny", from: string): Promise<unknown> =>
          desk.hub.resolveExecApproval({ approvalId, decision }, { from });
        const acts: Readonly<Record<Step, () => Promise<unknown>>> = {
          allow: () => answer("allow-once", PHONE),
          "allow elsewhere": () => answer("allow-once", LAPTOP),
          deny: () => answer("deny", PHONE),
          stranger: () => answer("allow-once", "device-stranger"),
          wait: () => desk.clock.advance(100),
          "time over": () => desk.clock.advance(60_000),
          abort: async () => stop.abort(),
          cancel: () => desk.hub.cancelPending(AGENT.agentId),
          close: () => desk.hub.close(),
        };
        for (const step of [...steps, "time over"] as const) {
          await acts[step]();
          await desk.clock.advance(0);
        }
        const first = steps.find((step) => ENDS[step] !== undefined) ?? "time over";
        const settled = await verdict;
        // A caller that left before it heard of the yes gets none: the yes of a person stands in
        // the log, and nothing runs.
        expect(settled.decision).toBe(ENDS[first]);
        expect(desk.hub.openApprovals()).toEqual([]);
        const ends = desk
          .types()
          .filter((type) => /^consent_(?:approved|denied|expired|cancelled|failed)$/.test(type));
        expect(ends.length).toBe(1);
      }),
    );
  });

  it("a hub's question has one end where everything happens at once", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(["allow", "deny", "elsewhere", "time", "abort", "cancel"] as const, {
          minLength: 2,
        }),
        async (steps) => {
          const desk = await openDesk();
          const stop = new AbortController();
          const verdict = desk.hub.onApprovalNeeded(REVIEWED, { ...AGENT, signal: stop.signal });
          const { approvalId } = await desk.request();
          const replies: Promise<{ readonly ok: boolean }>[] = [];
          const answer = (decision: "allow-once" | "deny", from: string): void =>
            void replies.push(desk.hub.resolveExecApproval({ approvalId, decision }, { from }));
          const rest: Promise<unknown>[] = [];
          for (const step of steps) {
            if (step === "allow") answer("allow-once", PHONE);
            if (step === "elsewhere") answer("allow-once", LAPTOP);
            if (step === "deny") answer("deny", PHONE);
            if (step === "time") rest.push(desk.clock.advance(60_000));
            if (step === "abort") stop.abort();
            if (step === "cancel") rest.push(desk.hub.cancelPending(AGENT.agentId));
          }
          await Promise.all(rest);
          await desk.clock.advance(60_000);
          const taken = (await Promise.all(replies)).filter(({ ok }) => ok).length;
          expect(taken).toBeLessThanOrEqual(1);
          const settled = await verdict;
          if (settled.decision === "allow") expect(taken).toBe(1);
          const ends = desk
            .types()
            .filter((type) => /^consent_(?:approved|denied|expired|cancelled|failed)$/.test(type));
          expect(ends.length).toBe(1);
        },
      ),
    );
  });
});

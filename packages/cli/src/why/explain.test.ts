import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DENY_CODES, logEvent } from "@acp/core";
import type { AuditEventInput } from "@acp/core";
import { CALLS, type Call, START_MS, decided } from "../../test/why-world.js";
import type { FoundEvent } from "./find-events.js";
import { explain } from "./explain.js";
import type { Explanation } from "./explanation.js";
import { toJson } from "./json.js";
import { loadInTime } from "./load.js";
import { storiesOf } from "./story.js";
import { explanationLines } from "./text.js";

const print = { tone: (_: string, text: string): string => text };

const found = (events: readonly AuditEventInput[]): readonly FoundEvent[] =>
  events.map((event, index) => ({
    event: { ...event, seq: index + 1, previousHash: null, hash: "" },
    log: "audit.jsonl",
  }));

/** What the events of each call explain to, in the order of the calls. */
async function explained(calls: readonly Call[]): Promise<readonly Explanation[]> {
  return storiesOf(found((await decided(calls)).events)).map((story) => explain(story));
}

const text = (explanation: Explanation): string => explanationLines(explanation, print).join("\n");

const ENDINGS: Readonly<Record<string, readonly [string, string | undefined, string]>> = {
  allowed: ["allowed", "policy_allowed", "ran"],
  "denied by a rule": ["denied", "policy_denied", "never"],
  approved: ["allowed", "consent_approved", "ran"],
  "denied by a person": ["denied", "consent_denied", "never"],
  "approved with modifications": ["allowed", "consent_modified", "ran"],
  expired: ["denied", "consent_expired", "never"],
  cancelled: ["denied", "consent_cancelled", "never"],
  "not shown": ["denied", "channel_failed", "never"],
  paused: ["denied", "paused", "never"],
  "agent paused": ["denied", "agent_paused", "never"],
  failed: ["allowed", "consent_approved", "failed"],
  "outcome unknown": ["allowed", "consent_approved", "started"],
  "not collected": ["allowed", "consent_approved", "not_collected"],
  "approved with a grant": ["allowed", "consent_approved", "ran"],
  "answered by a grant": ["allowed", "grant_used", "ran"],
  "several approvers": ["allowed", "consent_approved", "ran"],
};

describe("explain()", () => {
  it("says of each way in which a decision ends what it was, and what came of it", async () => {
    const all = await explained(CALLS);
    const ends = all.map(({ verdict: { standing, code }, run }) => [standing, code, run.state]);
    expect(Object.fromEntries(CALLS.map(({ name }, index) => [name, ends[index]]))).toEqual(
      ENDINGS,
    );
  });

  it("reads well", async () => {
    const all = await explained(CALLS);
    const page = all.map((each, index) => `# ${CALLS[index]?.name}\n${text(each)}\n`).join("\n");
    await expect(page).toMatchFileSnapshot("../../test/fixtures/why-endings.txt");
  });

  it("names who answered, on which channel, and the earlier consent", async () => {
    const all = await explained(CALLS);
    const of = (name: string): Explanation | undefined =>
      all[CALLS.findIndex((call) => call.name === name)];
    expect(of("several approvers")?.question).toMatchObject({
      needed: 2,
      answers: [
        { approver: "ada", channel: "terminal", decision: "approved" },
        { approver: "bob", channel: "terminal", decision: "approved" },
      ],
    });
    expect(of("denied by a person")?.question?.answers).toEqual([
      expect.objectContaining({ approver: "local", decision: "denied", tookMs: 0 }),
    ]);
    const granted = of("approved with a grant");
    expect(of("answered by a grant")?.earlier).toMatchObject({
      kind: "grant",
      question: granted?.id,
      approvers: ["local"],
    });
  });

  it("takes codes of a newer version, and a rule of a part that is not the policy", () => {
    const locked = { layer: "vault", reason: "locked", code: "key_locked", denied: "unlock it" };
    const event = {
      ...logEvent("policy_evaluated", { id: "ae_2", atMs: START_MS }, { call: "ae_1", ...locked }),
      decision: "deny",
      policyRule: "vault:locked",
    };
    const [story] = storiesOf(found([event]));
    if (story === undefined) throw new Error("no story");
    const said = explain(story);
    expect(said.verdict).toEqual({ standing: "denied", code: "key_locked", reason: "unlock it" });
    expect(text(said)).toMatch(/does not know the code\. \[key_locked\]\n.*unlock it/);
    expect(text(said)).toMatch(/vault:locked \(layer vault\): locked/);
  });

  it("shows nothing that an agent chose as anything but text", () => {
    const event = logEvent(
      "tool_call_intercepted",
      { id: "ae_1", atMs: START_MS },
      { call: "ae_1", parameters: { a: "\u001b[2J\n  verdict" }, server: "x\ny" },
    );
    const [story] = storiesOf(found([{ ...event, tool: "t\u001b[31m", agent: "a\nb" }]));
    if (story === undefined) throw new Error("no story");
    const lines = explanationLines(explain(story), print);
    expect(lines.every((line) => !/[\u0000-\u001f]/.test(line))).toBe(true);
  });

  it("explains every call of any log, and mentions its verdict", { timeout: 120_000 }, async () => {
    const some = fc.array(fc.constantFrom(...CALLS.filter(({ name }) => !name.includes("grant"))), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(some, async (calls) => {
        const all = await explained(calls);
        expect(all).toHaveLength(calls.length);
        for (const [index, each] of all.entries()) {
          const { standing, code } = each.verdict;
          const [wanted] = ENDINGS[calls[index]?.name ?? ""] ?? [];
          expect(standing).toBe(wanted);
          expect(text(each).startsWith(`${standing}: tool `)).toBe(true);
          if (code !== undefined) expect(text(each)).toContain(`[${code}]`);
          if (code !== undefined && code in DENY_CODES) expect(each.verdict.remedy).toBeDefined();
          expect(toJson(each)).toMatchObject({ id: each.id, verdict: { standing } });
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe("loadInTime()", () => {
  it("gives a story whole, also where only its end lies in the stretch", async () => {
    const { events } = await decided(CALLS);
    const all = found(events);
    const find = async function* ({
      filter = {},
      where = () => true,
    }: Parameters<Parameters<typeof loadInTime>[0]>[0]): AsyncGenerator<FoundEvent> {
      for (const each of all) {
        const { atMs, requestId } = each.event;
        const isIn = atMs >= (filter.sinceMs ?? 0) && atMs < (filter.untilMs ?? Infinity);
        const isOf = filter.requestId === undefined || filter.requestId === requestId;
        if (isIn && isOf && where(each.event)) yield each;
      }
    };
    const end = events.find(({ eventType }) => eventType === "consent_expired");
    if (end === undefined) throw new Error("no end");
    const when = { fromMs: end.atMs - 1, toMs: end.atMs + 1 };
    const { stories } = await loadInTime(find, { when });
    expect(stories.map((story) => explain(story).action.parameters)).toEqual([{ path: "e.md" }]);
  });
});

import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { agent, first, last, makeKit, reply } from "../../test/gate-kit.js";
import { memoryStore, redeem, toolAction } from "../index.js";
import { parsePolicy } from "../policy.js";

const call = toolAction("files", "write_file", { path: "a" });
const allowAll = parsePolicy({ version: "1", rules: [{ match: { tool: "*" }, action: "allow" }] });

describe("pausedAgent", () => {
  it("denies every call of the agent, also one that a rule allows, and writes it down", async () => {
    const { gate, sink, shown } = makeKit({
      policy: allowAll,
      pausedAgent: ({ id, parents = [] }) =>
        [id, ...parents].includes("demo") ? "paused by ann" : undefined,
    });
    expect(await gate(call, { agent })).toMatchObject({
      code: "agent_paused",
      reason: "paused by ann",
      retryable: true,
    });
    expect(last(sink.events)).toMatchObject({
      decision: "deny",
      metadata: { code: "agent_paused" },
    });
    expect(await gate(call, { agent: { id: "sub", parents: ["demo"] } })).toMatchObject({
      code: "agent_paused",
    });
    expect(await gate(call, { agent: { id: "other" } })).toMatchObject({ decision: "allow" });
    expect(shown).toEqual([]);
  });

  it("lets no yes through that comes after the pause", async () => {
    const pauses: string[] = [];
    const { gate, shown, settle } = makeKit({ pausedAgent: () => pauses[0] });
    const verdict = gate(call, { agent });
    await settle();
    pauses.push("paused by ann");
    await first(shown).session.submit(reply(first(shown), { decision: "approved" }));
    expect(await verdict).toMatchObject({ decision: "deny", code: "agent_paused" });
  });

  it("performs nothing by a permit that was handed out before the pause", async () => {
    const pauses: string[] = [];
    const { gate } = makeKit({ policy: allowAll, pausedAgent: () => pauses[0] });
    const [one, two] = [await gate(call, { agent }), await gate(call, { agent })];
    if (one.decision !== "allow" || two.decision !== "allow") throw new Error("both are allowed");
    pauses.push("paused by ann");
    let performed = 0;
    const result = await gate.perform(one, () => Promise.resolve(performed++));
    expect(result).toMatchObject({
      ran: false,
      verdict: { decision: "deny", reason: expect.stringContaining("paused by ann") as string },
    });
    expect(() => redeem(two.permit, two.action)).toThrow(
      expect.objectContaining({ code: "permit_denied" }),
    );
    expect(performed).toBe(0);
  });

  it("tells who said yes that nothing came of it", async () => {
    const pauses: string[] = [];
    const { gate, shown, settle } = makeKit({ pausedAgent: () => pauses[0] });
    const verdict = gate(call, { agent });
    await settle();
    pauses.push("paused by ann");
    await first(shown).session.submit(reply(first(shown), { decision: "approved" }));
    await verdict;
    expect(await first(shown).session.outcome).toEqual({
      status: "not_performed",
      detail: "paused by ann",
    });
  });

  it("counts as paused where that cannot be known", async () => {
    const { gate } = makeKit({
      policy: allowAll,
      pausedAgent: () => {
        throw new Error("the disk is gone");
      },
    });
    expect(await gate(call, { agent })).toMatchObject({
      code: "agent_paused",
      reason: expect.stringContaining("the disk is gone") as string,
    });
  });
});

describe("endPaused()", () => {
  const other = { id: "other" };

  it("ends the questions of paused agents and of what they started, as denied, and leaves the others", async () => {
    const paused = new Set<string>();
    const whyPaused = ({
      id,
      parents = [],
    }: {
      readonly id: string;
      readonly parents?: readonly string[];
    }) => ([id, ...parents].some((each) => paused.has(each)) ? "paused by ann" : undefined);
    const { gate, sink, shown, settle } = makeKit({ pausedAgent: whyPaused, promptLimit: "none" });
    const calls = Array.from({ length: 70 }, (_, number) =>
      gate(toolAction("files", "write_file", { number }), {
        agent: number % 10 === 0 ? { id: "sub", parents: ["demo"] } : agent,
      }),
    );
    const kept = gate(call, { agent: other });
    await settle();
    expect(await gate.endPaused()).toEqual({ ended: 0, left: 0 });
    paused.add("demo");
    expect(await gate.endPaused()).toEqual({ ended: 70, left: 0 });
    for (const verdict of await Promise.all(calls))
      expect(verdict).toMatchObject({ code: "agent_paused", reason: "paused by ann" });
    const ends = await Promise.all(shown.slice(0, 70).map(({ session }) => session.ended));
    expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(["denied"]));
    expect(sink.events.filter(({ eventType }) => eventType === "consent_denied")).toHaveLength(70);
    expect(last(sink.events)).toMatchObject({
      metadata: { approvers: [], reason: "paused by ann" },
    });
    expect(await gate.endPaused()).toEqual({ ended: 0, left: 0 });
    await last(shown).session.submit(reply(last(shown), { decision: "approved" }));
    expect(await kept).toMatchObject({ decision: "allow" });
  });

  it("is no person's no: the same call is asked anew once the agent is resumed", async () => {
    const pauses: string[] = [];
    const { gate, shown, settle } = makeKit({ pausedAgent: () => pauses[0] });
    const leaving = new AbortController();
    const gone = gate(call, { agent, signal: leaving.signal });
    await settle();
    leaving.abort();
    await gone;
    pauses.push("paused by ann");
    expect(await gate.endPaused()).toEqual({ ended: 1, left: 0 });
    pauses.length = 0;
    const again = gate(call, { agent });
    await settle();
    expect(shown).toHaveLength(2);
    await last(shown).session.submit(reply(last(shown), { decision: "approved" }));
    expect(await again).toMatchObject({ decision: "allow" });
  });

  it("shows nobody a question whose agent was paused while it was made", async () => {
    let looks = 0;
    const { gate, shown } = makeKit({
      pausedAgent: () => (++looks === 1 ? undefined : "paused by ann"),
    });
    expect(await gate(call, { agent })).toMatchObject({ code: "agent_paused" });
    expect(shown).toEqual([]);
  });

  it("says what it could not end", async () => {
    const pauses: string[] = [];
    const store = memoryStore(manualClock());
    let isDown = false;
    const pending = {
      ...store.pending,
      get: (id: string) =>
        isDown ? Promise.reject(new Error("the disk is gone")) : store.pending.get(id),
    };
    const { gate, settle } = makeKit({
      pausedAgent: () => pauses[0],
      store: { ...store, pending },
    });
    void gate(call, { agent });
    await settle();
    pauses.push("paused by ann");
    isDown = true;
    expect(await gate.endPaused()).toEqual({ ended: 0, left: 1 });
    await gate.close();
  });
});

/** Guards against too much: too many open questions, and one that is too large to read. */
import { describe, expect, it } from "vitest";
import { ASK_TIMEOUT_MS_MAX, PENDING_MAX, PENDING_PER_AGENT_MAX } from "../src/limits.js";
import { toolAction } from "../src/index.js";
import { agent, first, makeKit, reply } from "./gate-kit.js";

const write = toolAction("files", "write_file", { path: "a.txt" });

describe("a call", () => {
  it("is denied when too many questions are open", async () => {
    const { gate } = makeKit({ promptLimit: "none" });
    const agents = Array.from({ length: PENDING_MAX / PENDING_PER_AGENT_MAX }, (_, at) => ({
      id: `agent-${at}`,
    }));
    for (const each of agents)
      await Promise.all(
        Array.from({ length: PENDING_PER_AGENT_MAX }, () => gate.open(write, { agent: each })),
      );
    expect(await gate(write, { agent })).toMatchObject({
      code: "too_many_pending",
      retryable: true,
    });
  });

  it("of a flooding agent is denied past its share of open questions, those at once counted, and another agent still asks", async () => {
    const { gate, sink, shown } = makeKit({
      promptLimit: "none",
      askTimeoutMs: ASK_TIMEOUT_MS_MAX,
    });
    const parts = [{ id: "flood" }, { id: "sub", parents: ["flood"] }];
    const flood = Array.from({ length: PENDING_PER_AGENT_MAX + 200 }, (_, at) =>
      gate.open(write, { agent: parts[at % 2] ?? agent }),
    );
    const verdicts = await Promise.all(flood);
    expect(verdicts.filter(({ decision }) => decision === "pending")).toHaveLength(
      PENDING_PER_AGENT_MAX,
    );
    expect(
      verdicts.filter((each) => each.decision === "deny" && each.code === "too_many_pending"),
    ).toHaveLength(200);
    expect((await gate.open(write, { agent })).decision).toBe("pending");
    const one = first(shown);
    await one.session.submit(reply(one, { decision: "denied" }));
    await one.session.ended;
    expect((await gate.open(write, { agent: { id: "flood" } })).decision).toBe("pending");
    expect(await gate(write, { agent: { id: "flood" } })).toMatchObject({
      code: "too_many_pending",
    });
    await gate.close();
    // The first hundred are events of their own.
    const counts = sink.events.flatMap(({ metadata }) =>
      metadata?.["code"] === "too_many_pending" ? [Number(metadata["count"] ?? 1)] : [],
    );
    expect(counts).toHaveLength(101);
    expect(counts.reduce((sum, each) => sum + each, 0)).toBe(201);
  });

  it("is denied where the room that its gate shares with others has no place", async () => {
    let count = 0;
    const questionRoom = {
      full: () => (count < 3 ? undefined : "this client has 3 open questions"),
      count: (by: 1 | -1) => (count += by),
    };
    const [one, two] = [makeKit({ questionRoom }), makeKit({ questionRoom })];
    // Those at once count each other.
    const opened = await Promise.all(
      [one, two, one, two].map(({ gate }) => gate.open(write, { agent })),
    );
    expect(opened.map(({ decision }) => decision)).toEqual([
      "pending",
      "pending",
      "pending",
      "deny",
    ]);
    expect(opened[3]).toMatchObject({ code: "client_limit_reached", retryable: true });
    const shown = first(one.shown);
    await shown.session.submit(reply(shown, { decision: "denied" }));
    await shown.session.ended;
    expect((await two.gate.open(write, { agent: { id: "b" } })).decision).toBe("pending");
    await Promise.all([one.gate.close(), two.gate.close()]);
  });

  it("has the place of a question that has ended, before the log has its end", async () => {
    let count = 0;
    const questionRoom = {
      full: () => (count < 1 ? undefined : "this client has an open question"),
      count: (by: 1 | -1) => (count += by),
    };
    const { gate, shown, sink, settle } = makeKit({ questionRoom });
    await gate.open(write, { agent });
    const one = first(shown);
    sink.mode = "hangs";
    void one.session.submit(reply(one, { decision: "denied" }));
    await settle();
    expect(count).toBe(0);
  });

  it("is denied, not asked, when its question would be too large to read", async () => {
    const rows = Array.from({ length: 50_000 }, () => [[[[[[[[1]]]]]]]]);
    const { gate, shown } = makeKit();
    expect(await gate(toolAction("files", "write_rows", { rows }), { agent })).toMatchObject({
      code: "action_too_large",
    });
    expect(shown).toEqual([]);
  });
});

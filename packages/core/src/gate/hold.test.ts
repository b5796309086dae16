/**
 * A caller that goes away: its question is held for its retry, a yes is for one call only, and
 * silence is never kept as a no.
 */
import { seededIds } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { agent, asPending, first, type Kit, last, makeKit, reply } from "../../test/gate-kit.js";
import {
  type GateContext,
  isConsentError,
  memoryPending,
  toolAction,
  type Verdict,
} from "../index.js";
import { parsePolicy } from "../policy.js";

const write = toolAction("files", "write_file", { path: "a" });
const other = toolAction("files", "write_file", { path: "b" });

/** A call whose caller leaves at once. */
async function leave(
  { gate, settle }: Kit,
  context: GateContext = { agent },
  action = write,
): Promise<Verdict> {
  const caller = new AbortController();
  const verdict = gate(action, { ...context, signal: caller.signal });
  await settle();
  caller.abort();
  await settle();
  return verdict;
}

async function answer(kit: Kit, at: number, decision: "approved" | "denied"): Promise<unknown> {
  const question = kit.shown[at];
  if (question === undefined) throw new Error("there is no such question");
  const receipt = await question.session.submit(
    reply(question, { decision, validUntilMs: kit.clock.now() + 300_000 }),
  );
  await kit.settle();
  return receipt;
}

/** Whether the question is over, and how. */
async function endOf({ shown, settle }: Kit, at = 0): Promise<string> {
  let status = "open";
  void shown[at]?.session.ended.then((ending) => (status = ending.status));
  await settle();
  return status;
}

describe("a caller that goes away", () => {
  it("has its question held: the same call of the same agent finds it, and the person is asked once", async () => {
    const kit = makeKit();
    expect(await leave(kit)).toMatchObject({ code: "consent_cancelled" });
    expect(await endOf(kit)).toBe("open");
    expect(last(kit.sink.events)).toMatchObject({
      eventType: "consent_deferred",
      metadata: { reason: "the caller went away" },
    });
    await kit.clock.advance(40_000);
    const retry = kit.gate(write, { agent });
    await kit.settle();
    expect(kit.shown).toHaveLength(1);
    expect(await answer(kit, 0, "approved")).toMatchObject({
      status: "final",
      outcome: "approved",
    });
    expect(await retry).toMatchObject({ decision: "allow", code: "consent_approved" });
  });

  it("finds the answer that came while it was away, once", async () => {
    const kit = makeKit();
    await leave(kit);
    await answer(kit, 0, "approved");
    const verdict = await kit.gate(write, { agent });
    expect(verdict).toMatchObject({
      decision: "allow",
      code: "consent_approved",
      requestId: first(kit.shown).request.id,
    });
    expect((await kit.gate.open(write, { agent })).decision).toBe("pending");
    expect(kit.shown).toHaveLength(2);
  });

  it("finds the yes that was written down as it left", async () => {
    const caller = new AbortController();
    const kit = makeKit();
    const append = kit.sink.append.bind(kit.sink);
    kit.sink.append = (events) => {
      if (events.some(({ eventType }) => eventType === "consent_approved")) caller.abort();
      return append(events);
    };
    const verdict = kit.gate(write, { agent, signal: caller.signal });
    await kit.settle();
    await answer(kit, 0, "approved");
    expect(await verdict).toMatchObject({ code: "consent_cancelled" });
    expect(await kit.gate(write, { agent })).toMatchObject({
      decision: "allow",
      requestId: first(kit.shown).request.id,
    });
  });

  it("finds a person's no as well, once", async () => {
    const kit = makeKit();
    await leave(kit);
    await answer(kit, 0, "denied");
    expect(await kit.gate(write, { agent })).toMatchObject({ code: "consent_denied" });
    expect((await kit.gate.open(write, { agent })).decision).toBe("pending");
  });

  it("can leave and come back any number of times until the question expires", async () => {
    const kit = makeKit();
    for (let times = 0; times < 3; times++) {
      await leave(kit);
      await kit.clock.advance(30_000);
    }
    expect(kit.shown).toHaveLength(1);
    await kit.clock.advance(31_000);
    expect(await endOf(kit)).toBe("expired");
  });

  it.each([
    ["another agent", { agent: { id: "other" } }, write],
    ["another call", { agent }, other],
  ] as const)("leaves nothing to %s", async (_, context, action) => {
    const kit = makeKit();
    await leave(kit);
    await answer(kit, 0, "approved");
    expect((await kit.gate.open(action, context)).decision).toBe("pending");
    expect(kit.shown).toHaveLength(2);
  });

  it("gives one retry the question, and another one at the same time a question of its own", async () => {
    const kit = makeKit();
    await leave(kit);
    const both = [kit.gate(write, { agent }), kit.gate(write, { agent })];
    await kit.settle();
    expect(kit.shown).toHaveLength(2);
    await answer(kit, 0, "approved");
    await answer(kit, 1, "denied");
    expect((await Promise.all(both)).map(({ code }) => code).toSorted()).toEqual([
      "consent_approved",
      "consent_denied",
    ]);
  });

  it("is told to call again where another process holds its question, and the no is for the retry", async () => {
    const pending = memoryPending();
    const kit = makeKit({ store: { pending } });
    const verdict = kit.gate(write, { agent });
    await kit.settle();
    const later = makeKit({ store: { pending }, ids: seededIds(2) });
    await later.gate.resume();
    await answer(kit, 0, "denied");
    expect(await verdict).toMatchObject({ code: "consent_deferred" });
    expect(await later.gate(write, { agent })).toMatchObject({ code: "consent_denied" });
  });

  it.each([{ session: "other" }, { task: "other" }])(
    "has its open question left alone by a call of %j",
    async (place) => {
      const kit = makeKit();
      await leave(kit, { agent, session: "s", task: "t" });
      expect(
        (await kit.gate.open(write, { agent, session: "s", task: "t", ...place })).decision,
      ).toBe("pending");
      await kit.settle();
      expect(kit.shown).toHaveLength(2);
    },
  );

  it("has its question shown by the process that the retry came to", async () => {
    const pending = memoryPending();
    await leave(makeKit({ store: { pending } }));
    const later = makeKit({ store: { pending }, ids: seededIds(2) });
    const retry = later.gate(write, { agent });
    await later.settle();
    await answer(later, 0, "approved");
    expect(await retry).toMatchObject({ code: "consent_approved" });
  });

  it("has its question held again where the log could not keep the retry", async () => {
    const kit = makeKit();
    await leave(kit);
    await kit.clock.advance(10_000);
    kit.sink.mode = "throws";
    expect(await kit.gate(write, { agent })).toMatchObject({ code: "audit_failed" });
    kit.sink.mode = "works";
    await kit.clock.advance(59_000);
    expect(await endOf(kit)).toBe("open");
    await kit.clock.advance(2_000);
    expect(await endOf(kit)).toBe("cancelled");
  });

  it("has its question taken back when it does not call again in time", async () => {
    const kit = makeKit();
    await leave(kit);
    await kit.clock.advance(59_000);
    expect(await endOf(kit)).toBe("open");
    await kit.clock.advance(2_000);
    expect(await endOf(kit)).toBe("cancelled");
    expect(kit.types()).toContain("consent_cancelled");
    expect(await answer(kit, 0, "approved")).toMatchObject({
      status: "refused",
      code: "request_ended",
    });
    // Nothing of it is kept: the next call asks anew.
    expect((await kit.gate.open(write, { agent })).decision).toBe("pending");
  });

  it("waits as long as the gate was told, measured by the monotonic clock", async () => {
    const kit = makeKit({ retryWindowMs: 5_000 });
    await leave(kit);
    kit.clock.jump(-3_600_000);
    await kit.clock.advance(5_000);
    expect(await endOf(kit)).toBe("cancelled");
  });

  it("does not outlive the time of a retry that came and left again", async () => {
    const kit = makeKit();
    await leave(kit);
    await kit.clock.advance(50_000);
    await leave(kit);
    await kit.clock.advance(50_000);
    expect(await endOf(kit)).toBe("open");
    await kit.clock.advance(11_000);
    expect(await endOf(kit)).toBe("cancelled");
  });

  it("cannot fill a person's screen: of one agent and its parts 8 questions are held, the oldest go first", async () => {
    const kit = makeKit();
    for (let at = 0; at < 10; at++) {
      const part = { id: `part-${at % 2}`, parents: ["root"] };
      await leave(kit, { agent: part }, toolAction("files", "write_file", { path: String(at) }));
    }
    const ends: string[] = [];
    for (let at = 0; at < 10; at++) ends.push(await endOf(kit, at));
    expect(ends).toEqual(["cancelled", "cancelled", ...Array<string>(8).fill("open")]);
    await leave(kit, { agent: { id: "somebody else" } });
    expect(await endOf(kit, 2)).toBe("open");
  });

  it("counts none that dead processes left: each is there for its call until its own time is over", async () => {
    const pending = memoryPending();
    const dying = makeKit({ store: { pending } });
    for (let at = 0; at < 10; at++)
      void dying.gate(toolAction("files", "write_file", { path: String(at) }), {
        agent,
        call: `cc_${String(at).padStart(32, "0")}`,
      });
    await dying.settle();
    // The second dies as soon as it has them.
    await makeKit({ store: { pending }, ids: seededIds(2) }).gate.resume();
    const later = makeKit({ store: { pending }, ids: seededIds(3) });
    expect(await later.gate.resume()).toBe(10);
    const ends: string[] = [];
    for (let at = 0; at < 10; at++) ends.push(await endOf(later, at));
    expect(ends).toEqual(Array<string>(10).fill("open"));
  });

  it("ends at once by withdraw() and when the gate closes", async () => {
    const kit = makeKit();
    const pending = asPending(await kit.gate.open(write, { agent }));
    await pending.withdraw("enough");
    expect(await endOf(kit)).toBe("cancelled");
    await leave(kit, { agent }, other);
    await kit.gate.close();
    expect(await endOf(kit, 1)).toBe("cancelled");
  });

  it("leave() does what an aborted signal does", async () => {
    const kit = makeKit();
    const pending = asPending(await kit.gate.open(write, { agent }));
    await pending.leave("the client is gone");
    expect(await pending.settled).toMatchObject({
      code: "consent_cancelled",
      reason: "the client is gone",
    });
    expect(await endOf(kit)).toBe("open");
  });

  it("asks anew, and takes the old question back, where the rules became stricter meanwhile", async () => {
    let policy = parsePolicy({ version: "1", rules: [{ match: { tool: "*" }, action: "ask" }] });
    const kit = makeKit({ policy: () => policy });
    await leave(kit);
    policy = parsePolicy({
      version: "1",
      rules: [{ match: { tool: "*" }, action: "ask", level: "high" }],
    });
    const retry = kit.gate(write, { agent });
    await kit.settle();
    expect(kit.shown).toHaveLength(2);
    expect(await endOf(kit, 0)).toBe("cancelled");
    await answer(kit, 1, "denied");
    expect(await retry).toMatchObject({ code: "consent_denied" });
  });
});

describe("silence", () => {
  it.each(["defer", "leave"] as const)(
    "is not kept as a no after %s(): the next identical call asks",
    async (how) => {
      const kit = makeKit({ retryWindowMs: 600_000 });
      const pending = asPending(await kit.gate.open(write, { agent }));
      await (how === "defer" ? pending.defer() : pending.leave("the client's time is over"));
      await kit.clock.advance(121_000);
      expect(await endOf(kit)).toBe("expired");
      expect((await kit.gate.open(write, { agent })).decision).toBe("pending");
      expect(kit.shown).toHaveLength(2);
    },
  );

  it.each(["cancelled", "failed"] as const)(
    "of a question that was %s is no more kept than that of one that expired",
    async (how) => {
      const kit = makeKit({
        channel: {
          name: "test",
          deliver: (request, session) => (
            kit.shown.push({ request, session }), how === "failed" ? late : Promise.resolve()
          ),
        },
      });
      let break_ = (_error: Error): void => undefined;
      const late = new Promise<never>((_, reject) => (break_ = reject));
      const pending = asPending(await kit.gate.open(write, { agent }));
      await pending.defer();
      if (how === "cancelled") await pending.withdraw("enough");
      else break_(new Error("gone"));
      await kit.settle();
      expect(await endOf(kit)).toBe(how);
      expect((await kit.gate.open(write, { agent })).decision).toBe("pending");
    },
  );
});

describe("options of a gate", () => {
  it.each([-1, 600_001, Number.NaN, "5"])("refuse a retry window of %s", (retryWindowMs) => {
    let code = "";
    try {
      makeKit({ retryWindowMs: retryWindowMs as number });
    } catch (error) {
      code = isConsentError(error) ? error.code : "";
    }
    expect(code).toBe("options_invalid");
  });
});

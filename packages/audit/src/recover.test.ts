import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { call, done, question, reopened, START } from "../test/reopened.js";
import { collect, makeEvent, manualTime, scratchLog } from "../test/support.js";
import { openAuditLog } from "./audit-log.js";
import type { AuditEvent } from "./event.js";
import { readAuditLog } from "./read.js";
import { findOpenWork } from "./recover.js";
import { verifyAuditLog } from "./verify.js";

describe("openAuditLog() with recover", () => {
  it("ends questions that nobody holds", async () => {
    const { added, ended } = await reopened([question("cr_1"), question("cr_2")], ["cr_2"]);
    expect(ended).toBe(1);
    expect(added).toMatchObject([
      {
        eventType: "consent_expired",
        requestId: "cr_1",
        decision: "expired",
        tool: "tool of cr_1",
        atMs: START + 60_000,
        metadata: { requested_seq: 0 },
      },
    ]);
  });

  it.each(["approved", "denied", "expired", "cancelled", "failed", "superseded"])(
    "leaves a question alone that was %s",
    async (end) => {
      const { added } = await reopened(
        [question("cr_1"), { eventType: `consent_${end}` as "consent_denied", requestId: "cr_1" }],
        [],
        ["cr_1"],
      );
      // A yes has an end of its own.
      expect(added.map(({ eventType }) => eventType)).toEqual(
        end === "approved" ? ["consent_not_collected"] : [],
      );
    },
  );

  it("says that the outcome of a call is unknown, once", async () => {
    const { path, added } = await reopened([call({ requestId: "cr_1", tool: "rm" })]);
    expect(added).toMatchObject([
      {
        eventType: "outcome_unknown",
        requestId: "cr_1",
        tool: "rm",
        metadata: { forwarded_seq: 0 },
      },
    ]);
    await using again = await openAuditLog({ path, recover: { pendingIds: new Set() } });
    expect(again.ended).toBe(0);
  });

  it("tells calls apart by their question, tool, agent, rule and start", async () => {
    const { added } = await reopened([
      call({ tool: "a", responseTimeMs: 5, atMs: START + 5 }),
      call({ tool: "a", responseTimeMs: 5, atMs: START + 7 }),
      call({ tool: "b" }),
      done({ tool: "a", responseTimeMs: 50, atMs: START + 52 }),
      done({ tool: "c" }),
    ]);
    expect(added.map(({ metadata }) => metadata["forwarded_seq"])).toEqual([0, 2]);
  });

  it("goes by the number that an end names, whatever else it shares", async () => {
    const { added } = await reopened([
      call({ responseTimeMs: 5, atMs: START + 5 }),
      call({ responseTimeMs: 5, atMs: START + 7 }),
      done({
        responseTimeMs: 50,
        atMs: START + 50,
        metadata: { outcome: "performed", forwarded_seq: 1 },
      }),
      done({
        responseTimeMs: 50,
        atMs: START + 50,
        metadata: { outcome: "performed", forwarded_seq: 17 },
      }),
    ]);
    expect(added.map(({ metadata }) => metadata["forwarded_seq"])).toEqual([0]);
  });

  it("does not let a call that was never forwarded end another one like it", async () => {
    const { added } = await reopened([
      call(),
      done({ metadata: { outcome: "not_performed", error: "secret_refused" } }),
    ]);
    expect(added.map(({ metadata }) => metadata["forwarded_seq"])).toEqual([0]);
    const { added: none } = await reopened([
      call(),
      done({ metadata: { outcome: "not_performed" } }),
    ]);
    expect(none).toEqual([]);
    // A question has one call at most: this is its end, also where the log was too slow to say so
    // by number.
    const ofOne = { requestId: "cr_1" };
    const { added: slow } = await reopened([
      call(ofOne),
      done({ ...ofOne, metadata: { outcome: "not_performed", error: "audit_failed" } }),
    ]);
    expect(slow).toEqual([]);
  });

  it("ends the oldest of calls that nothing tells apart, as after a clock that went back", async () => {
    const { added } = await reopened([
      call({ atMs: START }),
      call({ atMs: START }),
      done({ atMs: START - 9_000, responseTimeMs: 0 }),
    ]);
    expect(added.map(({ metadata }) => metadata["forwarded_seq"])).toEqual([1]);
  });

  it("looks into every file", async () => {
    const filler = Array.from({ length: 8 }, () => ({ metadata: { filler: "x".repeat(400) } }));
    const { added } = await reopened([question("cr_1"), call(), ...filler]);
    expect(added.map(({ eventType }) => eventType)).toEqual(["consent_expired", "outcome_unknown"]);
  });

  it("is not deceived by a text that looks like an event type", async () => {
    const trick = '","event_type":"consent_requested"';
    const { added } = await reopened([
      { tool: trick, agent: trick, metadata: { text: trick } },
      question("cr_1"),
      { agent: '"event_type":"consent_expired"' },
    ]);
    expect(added).toMatchObject([{ requestId: "cr_1" }]);
  });

  it("starts at the last recovery, and keeps what was held then", async () => {
    const { path } = await reopened([question("cr_1"), call(), question("cr_2")], ["cr_1"]);
    await using held = await openAuditLog({ path, recover: { pendingIds: new Set(["cr_1"]) } });
    expect(held.ended).toBe(0);
    await held.append([call({ tool: "late" })]);
    await held.close();
    await using last = await openAuditLog({
      path,
      clock: manualTime(START + 120_000),
      recover: { pendingIds: new Set() },
    });
    expect(last.ended).toBe(2);
    await last.close();
    const added = (await collect(readAuditLog(path))).slice(-3);
    expect(added).toMatchObject([
      {
        eventType: "consent_expired",
        requestId: "cr_1",
        tool: "tool of cr_1",
        responseTimeMs: 120_000 - 1,
        metadata: { requested_seq: 0 },
      },
      { eventType: "outcome_unknown", tool: "late" },
      { eventType: "log_opened", metadata: { open_questions: [] } },
    ]);
  });

  it("adds nothing to a log in which nothing came after the last recovery", async () => {
    const { path } = await reopened([question("cr_1"), call()], ["cr_1"]);
    const events = async (): Promise<number> => (await collect(readAuditLog(path))).length;
    const open = async (pendingIds: readonly string[]): Promise<number> => {
      await using log = await openAuditLog({ path, recover: { pendingIds: new Set(pendingIds) } });
      return log.ended;
    };
    const before = await events();
    expect(await open(["cr_1"])).toBe(0);
    expect(await events()).toBe(before);
    expect(await open([])).toBe(1);
    expect(await events()).toBe(before + 2);
    {
      await using log = await openAuditLog({ path });
      await log.append([makeEvent(1)]);
    }
    expect(await open([])).toBe(0);
    expect(await events()).toBe(before + 4);
  });

  it("leaves a question out whose end stands in another log, asks for that only where one would expire, and says it once", async () => {
    const { path } = await reopened(
      [question("cr_1"), question("cr_2"), question("cr_3")],
      ["cr_1", "cr_2", "cr_3"],
    );
    const asked: (readonly string[])[] = [];
    const open = async (pendingIds: readonly string[]): Promise<readonly AuditEvent[]> => {
      const before = (await collect(readAuditLog(path))).length;
      const endedElsewhere = (ids: readonly string[]): Promise<ReadonlySet<string>> => {
        asked.push(ids);
        return Promise.resolve(new Set(["cr_1"]));
      };
      await using log = await openAuditLog({
        path,
        recover: { pendingIds: new Set(pendingIds), endedElsewhere },
      });
      await log.close();
      return (await collect(readAuditLog(path))).slice(before);
    };
    expect(await open(["cr_1", "cr_2", "cr_3"])).toEqual([]);
    expect(asked).toEqual([]);
    expect(await open(["cr_2"])).toMatchObject([
      { eventType: "consent_expired", requestId: "cr_3" },
      {
        eventType: "log_opened",
        metadata: { open_questions: [{ request_id: "cr_2" }], ended_elsewhere: ["cr_1"] },
      },
    ]);
    expect(await open(["cr_2"])).toEqual([]);
    expect(asked).toEqual([["cr_1", "cr_3"]]);
  });

  it("reads nothing before the last recovery", async () => {
    const { path } = await reopened([question("cr_1")], ["cr_1"]);
    await writeFile(path, (await readFile(path, "utf8")).replace('{"agent"', '{"tnega"'));
    expect((await findOpenWork(path)).questions()).toMatchObject([{ requestId: "cr_1" }]);
  });

  it("takes no argument of a call for a recovery", async () => {
    const fake = {
      agent: "",
      category: "",
      decision: "",
      event_type: "log_opened",
      event_hash: `sha256:${"0".repeat(64)}`,
    };
    const { added } = await reopened([
      question("cr_1"),
      { metadata: { parameters: fake, ...fake } },
      { agent: ',"event_type":"log_opened"' },
    ]);
    expect(added).toMatchObject([{ requestId: "cr_1" }]);
  });

  it("finds the last recovery in a log larger than one look, wherever it lies", async () => {
    for (const filler of [0, 1_000, 262_144 - 300, 262_144 - 150, 262_144, 400_000]) {
      const { path } = await reopened([question("cr_1")], ["cr_1"]);
      await using log = await openAuditLog({ path });
      await log.append([
        question("cr_2"),
        makeEvent(1, { metadata: { filler: "x".repeat(filler) } }),
      ]);
      await log.close();
      const work = await findOpenWork(path);
      expect(work.questions().map(({ requestId }) => requestId)).toEqual(["cr_1", "cr_2"]);
    }
  });

  it("does nothing where it is not asked to", async () => {
    const path = await scratchLog();
    await using first = await openAuditLog({ path });
    await first.append([question("cr_1")]);
    await first.close();
    await using second = await openAuditLog({ path });
    expect(second).toMatchObject({ ended: 0, start: { seq: 0 } });
    await second.close();
    expect(await verifyAuditLog(path)).toMatchObject({ events: 1 });
  });
});

describe("openAuditLog() and the clock", () => {
  it("records that the wall clock went back, while open and since the last event", async () => {
    const path = await scratchLog();
    const clock = manualTime(START);
    await using log = await openAuditLog({ path, clock });
    await log.append([makeEvent(0)]);
    clock.pass(5_000);
    clock.jump(-3_600_000);
    await log.append([makeEvent(1)]);
    await log.append([makeEvent(2)]);
    await log.close();
    clock.jump(-7_200_000);
    await using again = await openAuditLog({ path, clock });
    await again.append([makeEvent(3)]);
    const events = await collect(readAuditLog(path));
    expect(events.map(({ eventType }) => eventType.replace("policy_evaluated", "event"))).toEqual([
      "event",
      "clock_went_back",
      "event",
      "event",
      "clock_went_back",
      "event",
    ]);
    expect(events[1]).toMatchObject({
      atMs: START - 3_595_000,
      monoMs: 5_000,
      metadata: { back_ms: 3_600_000 },
    });
    expect(events[2]).toMatchObject({ monoMs: 5_000, seq: 2 });
    expect(await verifyAuditLog(path)).toMatchObject({ ok: true });
  });
});

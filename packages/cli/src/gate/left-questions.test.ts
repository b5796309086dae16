/** What a resident that died left: gates of the next one over the same store, claims and log. */
import { createConsentGate, makeResponse, memoryPending, memoryStore, toolAction } from "@acp/core";
import type {
  AskSession,
  AuditEventInput,
  ConsentGate,
  ConsentRequest,
  PendingRecord,
  PendingStore,
  ResumeOptions,
} from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { manualClock, seededIds } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createLeftQuestions } from "./left-questions.js";

const OURS = "a".repeat(16);
const OTHERS = "b".repeat(16);
const callOf = (n: number, client: string): string => `cc_${String(n).repeat(16)}${client}`;
const action = toolAction("files", "write_file", { path: "a" });
const agent = { id: "demo" };

type IsLost = (record: PendingRecord) => boolean;

interface Shown {
  readonly request: ConsentRequest;
  readonly session: AskSession;
}

/** One machine: what outlives a process is here. */
function machine() {
  const clock = manualClock();
  const ids = seededIds();
  const { claims } = memoryStore(clock);
  const events: AuditEventInput[] = [];
  const records = new Map<string, PendingRecord>();
  /** A process dies at any moment: what it wrote is there, and what it would do next is not done. */
  const gateOver = (pending: PendingStore) => {
    const shown: Shown[] = [];
    let isDead = false;
    const gate = createConsentGate({
      policy: parsePolicy({ version: "1", default_action: "ask" }),
      channel: {
        name: "test",
        deliver(request, session) {
          shown.push({ request, session });
          return Promise.resolve();
        },
      },
      audit: {
        append(more) {
          if (isDead) return new Promise(() => undefined);
          events.push(...more);
          return Promise.resolve({ seq: events.length - 1, hash: "sha256:0" });
        },
      },
      store: { pending, claims },
      clock,
      ids,
      recordKey: new Uint8Array(32).fill(7),
    });
    return { gate, shown, die: () => (isDead = true) };
  };
  const keeping = (store: PendingStore, isLost: IsLost): PendingStore => ({
    ...store,
    async put(record) {
      const isNew = await store.put(record);
      if (isNew) records.set(record.id, record);
      return isNew;
    },
    async transition(id, version, next) {
      if (isLost(next)) return new Promise(() => undefined);
      const isDone = await store.transition(id, version, next);
      if (isDone) records.set(id, next);
      return isDone;
    },
  });
  return {
    clock,
    events,
    /** @param isLost - Which write is the one that the process dies in. */
    start: (isLost: IsLost = () => false) => gateOver(keeping(memoryPending(), isLost)),
    /** What the next resident finds. */
    async restart(isForwarded: (ids: readonly string[]) => boolean = () => false) {
      const store = memoryPending();
      const left = structuredClone([...records.values()]);
      for (const record of left) await store.put(record);
      const questions = createLeftQuestions({
        left,
        store,
        isForwarded: (wanted) => Promise.resolve(isForwarded(wanted)),
      });
      return {
        questions,
        async session(
          client: string | undefined,
          options?: ResumeOptions,
          isOwn: (record: PendingRecord) => boolean = () => false,
        ) {
          const own = questions.withOwn(memoryPending(), { client, isOwn });
          const session = gateOver(own.store);
          await session.gate.resume(options);
          await clock.advance(0);
          return { ...session, leave: () => own[Symbol.dispose]() };
        },
        async endUnclaimed(options: ResumeOptions = {}) {
          const { gate } = gateOver(questions.unclaimed());
          await gate.resume({ ...options, areCallersGone: true });
          await clock.advance(0);
        },
      };
    },
    async answer(to: Shown | undefined, decision: "approved" | "denied") {
      if (to === undefined) throw new Error("nobody was asked");
      const nowMs = clock.now();
      const validUntilMs = nowMs + 300_000;
      await to.session.submit(
        makeResponse(to.request, { decision, nowMs, validUntilMs, channel: "test" }),
        { subject: "ann" },
      );
      await clock.advance(0);
    },
    types: () => events.map(({ eventType }) => eventType),
  };
}

type Machine = ReturnType<typeof machine>;

async function ask(at: Machine, gate: ConsentGate, call: string) {
  const verdict = gate(action, { agent, call });
  await at.clock.advance(0);
  return verdict;
}

/** Dies with an open question of our first call. */
async function diedOpen(at: Machine): Promise<void> {
  const { gate, die } = at.start();
  void gate(action, { agent, call: callOf(1, OURS) });
  await at.clock.advance(0);
  die();
}

/** Dies after a person's answer to it was taken by nobody, or by the call itself. */
async function diedAnswered(
  at: Machine,
  { decision, isTaken }: { decision: "approved" | "denied"; isTaken: boolean },
): Promise<void> {
  const { gate, shown, die } = at.start();
  const pending = await gate.open(action, { agent, call: callOf(1, OURS) });
  await at.clock.advance(0);
  if (!isTaken && pending.decision === "pending") await pending.defer();
  await at.answer(shown[0], decision);
  die();
}

const count = (at: Machine, type: string): number =>
  at.types().filter((each) => each === type).length;

describe("createLeftQuestions()", () => {
  it("shows the client that comes back its open question, which its call waits for again", async () => {
    const at = machine();
    await diedOpen(at);
    const next = await at.restart();
    const other = await next.session(OTHERS);
    const ours = await next.session(OURS);
    expect([other.shown.length, ours.shown.length]).toEqual([0, 1]);
    const verdict = ours.gate(action, { agent, call: callOf(1, OURS) });
    await at.clock.advance(0);
    await at.answer(ours.shown[0], "approved");
    expect((await verdict).decision).toBe("allow");
    expect(count(at, "consent_requested")).toBe(1);
    expect(ours.shown).toHaveLength(1);
  });

  it("gives no other client a question or an answer, though it calls the same", async () => {
    const at = machine();
    await diedAnswered(at, { decision: "approved", isTaken: false });
    const next = await at.restart();
    for (const client of [OTHERS, undefined]) {
      const { gate, shown } = await next.session(client);
      void gate(action, { agent, call: callOf(1, OTHERS) });
      await at.clock.advance(0);
      expect(shown).toHaveLength(1);
    }
    const { gate, shown } = await next.session(OURS);
    expect((await ask(at, gate, callOf(1, OURS))).decision).toBe("allow");
    expect(shown).toHaveLength(0);
  });

  it.each(["approved", "denied"] as const)("uses an answer that was %s, once", async (decision) => {
    const at = machine();
    await diedAnswered(at, { decision, isTaken: false });
    const { gate, shown } = await (await at.restart()).session(OURS);
    // A retry with a number of its own may have it as well.
    const verdict = await ask(at, gate, callOf(2, OURS));
    expect(verdict.decision).toBe(decision === "approved" ? "allow" : "deny");
    void gate(action, { agent, call: callOf(1, OURS) });
    await at.clock.advance(0);
    expect(shown).toHaveLength(1);
  });

  it("lets the call go on that had taken its yes, once, and no other one", async () => {
    const at = machine();
    await diedAnswered(at, { decision: "approved", isTaken: true });
    const { gate, shown, die } = await (await at.restart()).session(OURS);
    void gate(action, { agent, call: callOf(2, OURS) });
    await at.clock.advance(0);
    expect(shown).toHaveLength(1);
    expect((await ask(at, gate, callOf(1, OURS))).decision).toBe("allow");
    expect(shown).toHaveLength(1);
    die();
    // What was in work at two crashes is not begun a third time.
    const third = await (await at.restart()).session(OURS);
    void third.gate(action, { agent, call: callOf(1, OURS) });
    await at.clock.advance(0);
    const asked = third.shown.filter(({ request }) => request.id !== shown[0]?.request.id);
    expect(asked).toHaveLength(1);
    expect(count(at, "stored_record_ignored")).toBe(1);
  });

  it("keeps a taken yes for its call where its client comes back twice, and gives it once", async () => {
    const at = machine();
    await diedAnswered(at, { decision: "approved", isTaken: true });
    const next = await at.restart();
    const first = await next.session(OURS);
    const second = await next.session(OURS);
    expect((await ask(at, second.gate, callOf(1, OURS))).decision).toBe("allow");
    void first.gate(action, { agent, call: callOf(1, OURS) });
    await at.clock.advance(0);
    expect([first.shown.length, second.shown.length]).toEqual([1, 0]);
  });

  it("gives the next session of a client what its last one left as it was", async () => {
    const at = machine();
    await diedAnswered(at, { decision: "approved", isTaken: false });
    const next = await at.restart();
    const first = await next.session(OURS);
    first.leave();
    const second = await next.session(OURS);
    expect((await ask(at, second.gate, callOf(1, OURS))).decision).toBe("allow");
    expect(second.shown).toHaveLength(0);
  });

  it("ends a taken yes whose client came back without its call", async () => {
    const at = machine();
    await diedAnswered(at, { decision: "approved", isTaken: true });
    const next = await at.restart();
    const { gate, shown } = await next.session(OURS);
    await next.endUnclaimed();
    expect(at.events.at(-1)).toMatchObject({
      eventType: "tool_call_completed",
      metadata: { outcome: "not_performed" },
    });
    void gate(action, { agent, call: callOf(1, OURS) });
    await at.clock.advance(0);
    expect(shown).toHaveLength(1);
  });

  it("gives nothing of which a log shows that it was forwarded", async () => {
    for (const isTaken of [true, false]) {
      const at = machine();
      await diedAnswered(at, { decision: "approved", isTaken });
      const { gate, shown } = await (
        await at.restart((ids) => ids.includes(callOf(1, OURS)))
      ).session(OURS);
      void gate(action, { agent, call: callOf(1, OURS) });
      await at.clock.advance(0);
      expect(shown).toHaveLength(1);
    }
  });

  it("ends what no client comes back for, and leaves the rest alone", async () => {
    const at = machine();
    await diedOpen(at);
    const next = await at.restart();
    const { shown } = await next.session(OURS);
    await next.endUnclaimed();
    expect(count(at, "consent_cancelled")).toBe(0);
    expect(shown).toHaveLength(1);
    const again = await at.restart();
    await again.endUnclaimed();
    expect(count(at, "consent_cancelled")).toBe(1);
    const late = await again.session(OURS);
    expect(late.shown).toHaveLength(0);
  });

  it.each<readonly [string, boolean, boolean, string]>([
    ["a yes that nobody took", false, false, "consent_not_collected"],
    ["one that was taken and not forwarded", true, false, "tool_call_completed"],
    ["one that was forwarded: the log has its end", true, true, ""],
  ])("says what became of %s", async (_, isTaken, isForwarded, type) => {
    const at = machine();
    await diedAnswered(at, { decision: "approved", isTaken });
    const id = at.events.find(({ requestId }) => requestId !== "")?.requestId ?? "";
    const before = at.events.length;
    await (await at.restart()).endUnclaimed({ forwarded: new Set(isForwarded ? [id] : []) });
    const more = at.events
      .slice(before)
      .map(({ eventType, metadata }) => [eventType, metadata["outcome"]]);
    expect(more).toEqual(
      type === "" ? [] : [[type, type === "tool_call_completed" ? "not_performed" : undefined]],
    );
  });

  it.each([true, false])(
    "counts an answer that its record does not have, where a log has it: %s",
    async (isLogged) => {
      const at = machine();
      const { gate, shown, die } = at.start((record) => record.end?.recorded === true);
      void gate(action, { agent, call: callOf(1, OURS) });
      await at.clock.advance(0);
      // Its process dies as it writes, and says nothing more.
      void at.answer(shown[0], "approved");
      await at.clock.advance(0);
      die();
      const id = shown[0]?.request.id ?? "";
      const ours = await (await at.restart()).session(OURS, {
        answered: new Set(isLogged ? [id] : []),
      });
      const verdict = ours.gate(action, { agent, call: callOf(1, OURS) });
      await at.clock.advance(0);
      expect(ours.shown).toHaveLength(isLogged ? 0 : 1);
      expect(count(at, "consent_failed")).toBe(isLogged ? 0 : 1);
      if (isLogged) expect((await verdict).decision).toBe("allow");
    },
  );

  it("gives what a process without numbers left to the first whose it may be", async () => {
    const at = machine();
    const { gate, die } = at.start();
    void gate(action, { agent });
    await at.clock.advance(0);
    die();
    const next = await at.restart();
    const isDemo = ({ agentId }: PendingRecord): boolean => agentId === "demo";
    expect((await next.session(OTHERS, {}, (record) => !isDemo(record))).shown).toHaveLength(0);
    expect((await next.session(OURS, {}, isDemo)).shown).toHaveLength(1);
    expect((await next.session(undefined, {}, isDemo)).shown).toHaveLength(0);
  });
});

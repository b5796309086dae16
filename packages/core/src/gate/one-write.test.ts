/** One write of the log has what allowed a call and that it begins; its completion has another. */
import { expect, it } from "vitest";
import { agent, allowAll, askAll, last, makeKit, recordingSink } from "../../test/gate-kit.js";
import type { AuditEventInput, AuditReceipt, AuditSink, Vault } from "../index.js";
import { toolAction } from "../index.js";
import { parsePolicy } from "../policy.js";

const write = toolAction("files", "write_file", { path: "a.txt", content: "hello" });
const OPENING = ["tool_call_intercepted", "policy_evaluated"];

interface HeldSink extends AuditSink {
  /** The types of the events of each write. */
  readonly writes: (readonly string[])[];
  /** Writes whose events are not durable yet: each call makes the oldest so, or fails it. */
  next(error?: Error): Promise<void>;
}

/** A sink whose writes become durable when the test says so. */
function heldSink(): HeldSink {
  const sink = recordingSink();
  const waiting: ((error?: Error) => void)[] = [];
  const writes: (readonly string[])[] = [];
  return {
    writes,
    append: (events: readonly AuditEventInput[]) => {
      writes.push(events.map(({ eventType }) => eventType));
      return new Promise<AuditReceipt>((resolve, reject) =>
        waiting.push((error) =>
          error === undefined ? resolve(sink.append(events)) : reject(error),
        ),
      );
    },
    async next(error) {
      await expect.poll(() => waiting.length).toBeGreaterThan(0);
      waiting.shift()?.(error);
    },
  };
}

it("begins nothing before what allowed it and its begin are durable together", async () => {
  const audit = heldSink();
  const { gate } = makeKit({ policy: allowAll, audit });
  let ran = 0;
  const result = gate.run(write, () => Promise.resolve(++ran), { agent });
  await expect.poll(() => audit.writes).toEqual([[...OPENING, "tool_call_forwarded"]]);
  expect(ran).toBe(0);
  await audit.next();
  await expect.poll(() => ran).toBe(1);
  await audit.next();
  expect(await result).toMatchObject({ ran: true, recorded: true });
  expect(audit.writes.slice(1)).toEqual([["tool_call_completed"]]);
});

it("performs nothing that the log cannot keep", async () => {
  const audit = heldSink();
  const { gate } = makeKit({ policy: allowAll, audit });
  let ran = 0;
  const result = gate.run(write, () => Promise.resolve(++ran), { agent });
  await audit.next(new Error("the disk is full"));
  expect(await result).toMatchObject({ ran: false, verdict: { code: "audit_failed" } });
  expect([ran, audit.writes.length]).toEqual([0, 1]);
});

it("puts no secret in before what allows that is durable", async () => {
  const audit = heldSink();
  let injected = 0;
  const vault: Vault = {
    inject: (release) => {
      injected++;
      return Promise.resolve(release);
    },
  };
  const policy = parsePolicy({
    version: "1",
    rules: [{ match: { tool: "*" }, action: "allow", secrets: ["TOKEN"] }],
  });
  const { gate } = makeKit({ policy, audit, vault });
  const result = gate.run(write, () => Promise.resolve(1), { agent });
  await expect.poll(() => audit.writes).toEqual([OPENING]);
  expect(injected).toBe(0);
  await audit.next();
  await audit.next();
  await audit.next();
  expect(await result).toMatchObject({ ran: true });
  expect(injected).toBe(1);
});

it("writes down what allowed a call that its vault, a pause or the caller's leave kept from beginning", async () => {
  const sink = recordingSink();
  let paused: string | undefined;
  const failing: Vault = { inject: () => Promise.reject(new Error("it is locked")) };
  const perform = (): Promise<never> => Promise.reject(new Error("it ran"));
  const { gate } = makeKit({ policy: allowAll, audit: sink, vault: failing });
  expect(await gate.run(write, perform, { agent })).toMatchObject({
    verdict: { code: "vault_failed" },
  });
  expect(sink.events.map(({ eventType }) => eventType)).toEqual([
    ...OPENING,
    "tool_call_completed",
  ]);
  expect(last(sink.events)?.metadata).toMatchObject({ outcome: "not_performed" });

  const second = recordingSink();
  // Not paused when it is judged, and paused when it is performed.
  let looks = 0;
  const pausing = makeKit({
    policy: allowAll,
    audit: second,
    pausedAgent: () => (looks++ === 0 ? undefined : (paused = "somebody paused it")),
  });
  expect(await pausing.gate.run(write, perform, { agent })).toMatchObject({
    verdict: { code: "policy_denied" },
  });
  expect(paused).toBeDefined();
  expect(second.events.map(({ eventType }) => eventType)).toEqual(OPENING);

  const third = recordingSink();
  const left = makeKit({ policy: allowAll, audit: third });
  const signal = AbortSignal.abort();
  expect(await left.gate.runOrOpen(write, { perform, signal }, { agent })).toMatchObject({
    verdict: { code: "consent_cancelled" },
  });
  expect(last(third.events)?.metadata).toMatchObject({
    outcome: "not_performed",
    error: "consent_cancelled",
  });
});

it("gives the result first where the caller wants it so, and says whether its completion got there", async () => {
  for (const error of [undefined, new Error("the disk is full")]) {
    const audit = heldSink();
    const { gate } = makeKit({ policy: allowAll, audit });
    const running = gate.runOrOpen(
      write,
      { perform: () => Promise.resolve("done"), completesLater: true },
      { agent },
    );
    await audit.next();
    const result = await running;
    if (!("ran" in result) || !result.ran) throw new Error("it did not run");
    expect(result).toMatchObject({ value: "done", recorded: false });
    await audit.next(error);
    expect(await result.completed).toBe(error === undefined);
  }
});

it("lets nothing wait in the log but a completion that comes after its result", async () => {
  const waits: (readonly [string, boolean])[] = [];
  const audit: AuditSink = {
    append(events, terms) {
      for (const { eventType } of events) waits.push([eventType, terms?.mayWait === true]);
      return Promise.resolve({ seq: waits.length, hash: "" });
    },
  };
  const { gate } = makeKit({ policy: allowAll, audit });
  const perform = () => Promise.resolve(1);
  await gate.runOrOpen(write, { perform, completesLater: true }, { agent });
  const begins = [...OPENING, "tool_call_forwarded"].map((type) => [type, false]);
  expect(waits.splice(0)).toEqual([...begins, ["tool_call_completed", true]]);
  await gate.runOrOpen(write, { perform }, { agent });
  expect(waits.splice(0)).toEqual([...begins, ["tool_call_completed", false]]);
  const fails = () => Promise.reject(new Error("no"));
  await gate
    .runOrOpen(write, { perform: fails, completesLater: true }, { agent })
    .catch(() => undefined);
  expect(waits.splice(0)).toEqual([...begins, ["tool_call_completed", false]]);
});

it("gives what was thrown only after the log has it", async () => {
  const audit = heldSink();
  const { gate } = makeKit({ policy: allowAll, audit });
  let isOver = false;
  const running = gate
    .runOrOpen(
      write,
      { perform: () => Promise.reject(new Error("no")), completesLater: true },
      { agent },
    )
    .catch(() => (isOver = true));
  await audit.next();
  await expect.poll(() => audit.writes.length).toBe(2);
  expect(isOver).toBe(false);
  await audit.next();
  await running;
  expect(isOver).toBe(true);
});

it("hands out the question of what needs a person, and a verdict that writes for itself", async () => {
  const { gate, sink } = makeKit({ policy: askAll });
  const opened = await gate.runOrOpen(write, { perform: () => Promise.resolve(1) }, { agent });
  expect(opened).toMatchObject({ decision: "pending" });
  if ("settled" in opened) await opened.withdraw("enough");
  expect(sink.events.map(({ eventType }) => eventType)).not.toContain("tool_call_forwarded");
  // Whoever performs later has its events in the log before there is a permit.
  const plain = makeKit({ policy: allowAll });
  await plain.gate.open(write, { agent });
  expect(plain.types()).toEqual(OPENING);
});

it("denies what cannot be read", async () => {
  const { gate } = makeKit({ policy: allowAll });
  const perform = (): Promise<never> => Promise.reject(new Error("it ran"));
  for (const wrong of [{ perform, signal: "soon" }, {}, undefined] as never[])
    expect(await gate.runOrOpen(write, wrong, { agent })).toMatchObject({
      ran: false,
      verdict: { code: "context_invalid" },
    });
});

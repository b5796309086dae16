/**
 * What became of a yes: ran, failed, not performed, not collected, unknown; told once, to the
 * record, the log and the channel.
 */
import { describe, expect, it } from "vitest";
import { agent, first, type Kit, last, makeKit, reply } from "../../test/gate-kit.js";
import { memoryPending, type PendingStore, redeem, toolAction } from "../index.js";

const write = toolAction("files", "write_file", { path: "a" });
const other = toolAction("files", "write_file", { path: "b" });

/** A call whose caller leaves at once. */
async function leave({ gate, settle }: Kit): Promise<void> {
  const caller = new AbortController();
  void gate(write, { agent, signal: caller.signal });
  await settle();
  caller.abort();
  await settle();
}

async function answer(kit: Kit, decision: "approved" | "denied"): Promise<unknown> {
  const question = first(kit.shown);
  const receipt = await question.session.submit(
    reply(question, { decision, validUntilMs: kit.clock.now() + 300_000 }),
  );
  await kit.settle();
  return receipt;
}

async function outcomeOf({ shown, settle }: Kit, at = 0): Promise<unknown> {
  let outcome: unknown = "none yet";
  void shown[at]?.session.outcome.then((each) => (outcome = each));
  await settle();
  return outcome;
}

describe("the outcome of a yes", () => {
  const run = async (kit: Kit, perform: () => Promise<unknown>): Promise<void> => {
    const verdict = kit.gate(write, { agent });
    await kit.settle();
    await answer(kit, "approved");
    const given = await verdict;
    if (given.decision === "deny") throw new Error(given.code);
    await kit.gate.perform(given, perform).catch(() => undefined);
  };

  it("is that it ran, or failed with what", async () => {
    const ran = makeKit();
    await run(ran, () => Promise.resolve());
    expect(await outcomeOf(ran)).toEqual({ status: "ran", detail: "" });
    const failed = makeKit();
    await run(failed, () => Promise.reject(new RangeError("secret text")));
    expect(await outcomeOf(failed)).toEqual({ status: "failed", detail: "RangeError" });
  });

  it("is nothing for a no, and comes no earlier than the action's end", async () => {
    const denied = makeKit();
    void denied.gate(write, { agent });
    await denied.settle();
    await answer(denied, "denied");
    expect(await outcomeOf(denied)).toBeUndefined();
    const kit = makeKit();
    let finish: () => void = () => undefined;
    const running = run(kit, () => new Promise<void>((resolve) => (finish = () => resolve())));
    await kit.clock.advance(3_600_000);
    expect(await outcomeOf(kit)).toBe("none yet");
    finish();
    await running;
    expect(await outcomeOf(kit)).toEqual({ status: "ran", detail: "" });
  });

  it("is not collected where the caller left and never came back, in record and log, and nobody can collect it later", async () => {
    const pending = memoryPending();
    const kit = makeKit({ store: { pending } });
    await leave(kit);
    expect(await answer(kit, "approved")).toMatchObject({ status: "final", outcome: "approved" });
    await kit.clock.advance(299_000);
    expect(await outcomeOf(kit)).toBe("none yet");
    kit.clock.jump(-3_600_000);
    await kit.clock.advance(2_000);
    expect(await outcomeOf(kit)).toMatchObject({ status: "not_collected" });
    const { id } = first(kit.shown).request;
    expect((await pending.get(id))?.outcome).toMatchObject({ status: "not_collected" });
    expect(last(kit.sink.events)).toMatchObject({
      eventType: "consent_not_collected",
      requestId: id,
      decision: "not_collected",
    });
    expect(kit.types()).not.toContain("tool_call_forwarded");
    // The wall clock went back, so that the yes would still be valid by it.
    expect((await kit.gate.open(write, { agent })).decision).toBe("pending");
  });

  it("is not collected where the caller has its verdict and does not use it", async () => {
    const kit = makeKit();
    const verdict = kit.gate(write, { agent });
    await kit.settle();
    await answer(kit, "approved");
    const given = await verdict;
    await kit.clock.advance(30_000);
    expect(await outcomeOf(kit)).toMatchObject({ status: "not_collected" });
    expect(last(kit.types())).toBe("consent_not_collected");
    if (given.decision === "allow")
      expect(() => redeem(given.permit, given.action)).toThrow(/it has expired/);
  });

  it("is not collected where the caller leaves between verdict and action", async () => {
    const kit = makeKit();
    const caller = new AbortController();
    const verdict = kit.gate(write, { agent, signal: caller.signal });
    await kit.settle();
    await answer(kit, "approved");
    const given = await verdict;
    caller.abort();
    let ran = false;
    if (given.decision === "allow") await kit.gate.perform(given, async () => void (ran = true));
    expect([ran, await outcomeOf(kit)]).toEqual([
      false,
      { status: "not_collected", detail: "the caller went away" },
    ]);
  });

  it("is not collected where the caller leaves as it takes the yes, and is told at once", async () => {
    const caller = new AbortController();
    const pending = memoryPending();
    const transition: PendingStore["transition"] = (id, version, next) => {
      if (next.adopted) caller.abort();
      return pending.transition(id, version, next);
    };
    const kit = makeKit({ store: { pending: { ...pending, transition } } });
    const verdict = kit.gate(write, { agent, signal: caller.signal });
    await kit.settle();
    await answer(kit, "approved");
    expect(await verdict).toMatchObject({ code: "consent_cancelled" });
    expect(await outcomeOf(kit)).toEqual({
      status: "not_collected",
      detail: "the caller went away as the answer came",
    });
  });

  it("is not performed where the log cannot keep that the retry takes it", async () => {
    const kit = makeKit();
    await leave(kit);
    await answer(kit, "approved");
    kit.sink.mode = "throws";
    expect(await kit.gate(write, { agent })).toMatchObject({ code: "audit_failed" });
    expect(await outcomeOf(kit)).toMatchObject({ status: "not_performed" });
  });

  it("is unknown where somebody redeems the permit by hand and says no more", async () => {
    const kit = makeKit();
    const verdict = kit.gate(write, { agent });
    await kit.settle();
    await answer(kit, "approved");
    const given = await verdict;
    if (given.decision === "allow") redeem(given.permit, given.action);
    await kit.clock.advance(31_000);
    expect(await outcomeOf(kit)).toBe("none yet");
    await kit.clock.advance(900_000);
    expect(await outcomeOf(kit)).toMatchObject({ status: "unknown" });
  });

  it("is not performed where something stops it before it begins, and a second perform() says nothing about the first", async () => {
    const kit = makeKit({ vault: { inject: () => Promise.reject(new Error("locked")) } });
    await run(kit, () => Promise.resolve());
    expect(await outcomeOf(kit)).toMatchObject({ status: "not_performed" });
    const twice = makeKit();
    const verdict = twice.gate(write, { agent });
    await twice.settle();
    await answer(twice, "approved");
    const given = await verdict;
    if (given.decision === "deny") throw new Error(given.code);
    let finish: () => void = () => undefined;
    const running = twice.gate.perform(
      given,
      () => new Promise<void>((resolve) => (finish = () => resolve())),
    );
    await twice.settle();
    expect(await twice.gate.perform(given, () => Promise.resolve())).toMatchObject({ ran: false });
    await expect(
      twice.gate.perform({ ...given, action: other }, () => Promise.resolve()),
    ).resolves.toMatchObject({ ran: false });
    expect(await outcomeOf(twice)).toBe("none yet");
    finish();
    await running;
    expect(await outcomeOf(twice)).toEqual({ status: "ran", detail: "" });
  });

  it("is unknown, and waits no longer, when the gate closes", async () => {
    const kit = makeKit();
    const verdict = kit.gate(write, { agent });
    await kit.settle();
    await answer(kit, "approved");
    await verdict;
    await kit.gate.close();
    expect(await outcomeOf(kit)).toMatchObject({ status: "unknown" });
  });
});

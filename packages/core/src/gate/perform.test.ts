import { describe, expect, it } from "vitest";
import {
  agent,
  allowAll,
  asPending,
  denyAll,
  first,
  last,
  makeKit,
  recordingSink,
  reply,
} from "../../test/gate-kit.js";
import { isConsentError, redeem, toolAction, type AuditSink, type Vault } from "../index.js";
import { parsePolicy } from "../policy.js";

const write = toolAction("files", "write_file", { path: "a.txt", content: "hello" });

describe("run(), perform() and wrap()", () => {
  it("performs once and records forwarded and completed around it", async () => {
    const { gate, types } = makeKit({ policy: allowAll });
    let ran = 0;
    const result = await gate.run(
      write,
      (release) => Promise.resolve(`${release.action.name} ${++ran}`),
      { agent },
    );
    expect(result).toMatchObject({ ran: true, value: "write_file 1", recorded: true });
    expect(types()).toEqual([
      "tool_call_intercepted",
      "policy_evaluated",
      "tool_call_forwarded",
      "tool_call_completed",
    ]);
  });

  it("names the forwarded event in the completed one, by what the sink numbered the last of its batch", async () => {
    const { gate, sink } = makeKit({ policy: allowAll });
    const forwardedAt = (): number =>
      sink.events.findLastIndex(({ eventType }) => eventType === "tool_call_forwarded");
    await gate.run(write, () => Promise.resolve(1), { agent });
    expect(last(sink.events)?.metadata).toMatchObject({
      outcome: "performed",
      forwarded_seq: forwardedAt(),
    });
    await expect(gate.run(write, () => Promise.reject(new Error("no")), { agent })).rejects.toThrow(
      "no",
    );
    expect(last(sink.events)?.metadata).toMatchObject({
      outcome: "failed",
      forwarded_seq: forwardedAt(),
    });
    const verdict = await gate(write, { agent });
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    await gate.perform(verdict, () => Promise.resolve(1), { signal: AbortSignal.abort() });
    expect(last(sink.events)?.metadata).toMatchObject({
      outcome: "not_performed",
      forwarded_seq: forwardedAt(),
    });
  });

  it("does without the number where a sink gives none", async () => {
    const sink = recordingSink();
    const audit: AuditSink = {
      append: (events) => sink.append(events).then(() => JSON.parse("null")),
    };
    const { gate } = makeKit({ policy: allowAll, audit });
    expect(await gate.run(write, () => Promise.resolve(1), { agent })).toMatchObject({
      ran: true,
      recorded: true,
    });
    expect(last(sink.events)?.metadata).toMatchObject({ outcome: "performed" });
    expect(last(sink.events)?.metadata).not.toHaveProperty("forwarded_seq");
  });

  it("does not perform what was denied, or what the log cannot announce", async () => {
    const { gate, sink } = makeKit({ policy: allowAll });
    const verdict = await gate(write, { agent });
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    sink.mode = "throws";
    let ran = false;
    const perform = (): Promise<void> => Promise.resolve(void (ran = true));
    expect(await gate.perform(verdict, perform)).toMatchObject({
      ran: false,
      verdict: { code: "audit_failed" },
    });
    sink.mode = "works";
    expect(await gate.perform(verdict, perform)).toMatchObject({
      ran: false,
      verdict: { code: "permit_refused" },
    });
    expect(ran).toBe(false);
  });

  it("records the end also where what it gave throws when it is looked at", async () => {
    const { gate, sink } = makeKit({ policy: allowAll });
    const trap = {
      get [Symbol.asyncIterator](): never {
        throw new RangeError("trap");
      },
    };
    await expect(gate.run(write, () => Promise.resolve(trap), { agent })).rejects.toThrow("trap");
    expect(last(sink.events)).toMatchObject({
      eventType: "tool_call_completed",
      metadata: { outcome: "failed", error: "RangeError" },
    });
  });

  it("tells that the completion could not be recorded", async () => {
    const { gate, sink } = makeKit({ policy: allowAll });
    const result = await gate.run(
      write,
      () => {
        sink.mode = "throws";
        return Promise.resolve(1);
      },
      { agent },
    );
    expect(result).toMatchObject({ ran: true, recorded: false });
  });

  it("rejects with what perform throws, after recording the failure without its text", async () => {
    const { gate, sink } = makeKit({ policy: allowAll });
    await expect(
      gate.run(write, () => Promise.reject(new TypeError("token abc")), { agent }),
    ).rejects.toThrow("token abc");
    expect(last(sink.events)).toMatchObject({
      eventType: "tool_call_completed",
      metadata: { outcome: "failed", error: "TypeError" },
    });
    expect(JSON.stringify(sink.events)).not.toContain("token abc");
  });

  it("refuses a permit that expired, was copied or belongs to another action", async () => {
    const { gate, clock } = makeKit({ policy: allowAll });
    const verdict = await gate(write, { agent });
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    expect(() => redeem({ ...verdict.permit }, verdict.action)).toThrow(
      expect.objectContaining({ code: "permit_unknown" }),
    );
    expect(() => redeem(verdict.permit, toolAction("files", "write_file", { path: "b" }))).toThrow(
      expect.objectContaining({ code: "permit_other_action" }),
    );
    await clock.advance(30_001);
    expect(() => redeem(verdict.permit, verdict.action)).toThrow(
      expect.objectContaining({ code: "permit_expired" }),
    );
  });

  it("performs and records what its own permit is for, whatever a copied verdict says", async () => {
    const { gate, sink, shown, settle } = makeKit();
    const { settled } = asPending(await gate.open(write, { agent }));
    await settle();
    await first(shown).session.submit(reply(first(shown), { decision: "approved" }));
    const verdict = await settled;
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    expect(() => Reflect.apply(Array.prototype.push, verdict.approvers, ["ceo"])).toThrow(
      TypeError,
    );
    const copy = { ...verdict, approvers: ["ceo"], requestId: "cr_other", reason: "because" };
    const result = await gate.perform(copy, ({ action }) => Promise.resolve(action));
    expect(result).toMatchObject({ ran: true, value: verdict.action });
    expect(result.verdict).toBe(verdict);
    const told = sink.events.slice(-2);
    expect(told.map(({ requestId }) => requestId)).toEqual([verdict.requestId, verdict.requestId]);
    expect(told[0]?.metadata).toMatchObject({ approvers: ["local"] });
  });

  it("performs nothing with another gate's verdict, whose permit stays good", async () => {
    const mine = makeKit({ policy: allowAll });
    const other = makeKit({ policy: allowAll });
    const verdict = await other.gate(write, { agent });
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    const perform = (): Promise<string> => Promise.resolve("ran");
    expect(await mine.gate.perform(verdict, perform)).toMatchObject({
      ran: false,
      verdict: { code: "permit_refused" },
    });
    expect(mine.types()).not.toContain("tool_call_forwarded");
    expect(await other.gate.perform(verdict, perform)).toMatchObject({ ran: true, value: "ran" });
  });

  it.each([undefined, null, 1, {}, { permit: null }, { permit: {} }])(
    "performs nothing with %j",
    async (verdict) => {
      const { gate } = makeKit({ policy: allowAll });
      const result = await gate.perform(verdict as never, () => Promise.resolve("ran"));
      expect(result).toMatchObject({ ran: false, verdict: { code: "permit_refused" } });
    },
  );

  it("hands out no list of secrets that could grow", async () => {
    const policy = parsePolicy({
      version: "1",
      rules: [{ match: { tool: "*" }, action: "allow", secrets: ["TOKEN"] }],
    });
    const { gate } = makeKit({ policy });
    const verdict = await gate(write, { agent });
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    const { secrets } = redeem(verdict.permit, verdict.action);
    expect(() => Reflect.apply(Array.prototype.push, secrets, ["OTHER"])).toThrow(TypeError);
    expect(secrets).toEqual(["TOKEN"]);
  });

  it("asks the layers again at redemption, and their deny wins", async () => {
    let policy = allowAll;
    const { gate } = makeKit({ policy: () => policy });
    const verdict = await gate(write, { agent });
    if (verdict.decision !== "allow") throw new Error(verdict.code);
    policy = denyAll;
    let error: unknown;
    try {
      redeem(verdict.permit, verdict.action);
    } catch (caught) {
      error = caught;
    }
    expect(isConsentError(error, "permit_denied")).toBe(true);
  });

  it("denies with vault_failed when the vault throws, and performs nothing", async () => {
    const vault: Vault = { inject: () => Promise.reject(new Error("locked")) };
    const policy = parsePolicy({
      version: "1",
      rules: [{ match: { tool: "*" }, action: "allow", secrets: ["TOKEN"] }],
    });
    const { gate, types } = makeKit({ policy, vault });
    expect(
      await gate.run(write, () => Promise.reject(new Error("must not run")), { agent }),
    ).toMatchObject({
      ran: false,
      verdict: { code: "vault_failed" },
    });
    expect(types()).not.toContain("tool_call_forwarded");
  });

  it("wraps a function that cannot run unasked", async () => {
    const { gate } = makeKit({ policy: denyAll });
    let ran = false;
    const wrapped = gate.wrap(
      (path: string) => toolAction("files", "read_file", { path }),
      () => Promise.resolve(void (ran = true)),
    );
    expect(await wrapped("a", { agent })).toMatchObject({
      ran: false,
      verdict: { code: "policy_denied" },
    });
    expect(ran).toBe(false);
    const broken = gate.wrap(
      () => {
        throw new Error("no");
      },
      () => Promise.resolve(),
    );
    expect(await broken(1, { agent })).toMatchObject({
      ran: false,
      verdict: { code: "action_invalid" },
    });
  });
});

describe("recordKey as a function", () => {
  it("ends the permits of the key before once it gives another one, and not otherwise", async () => {
    let key = new Uint8Array(32).fill(1);
    const { gate } = makeKit({ policy: allowAll, recordKey: () => key });
    const [before, kept] = [await gate(write, { agent }), await gate(write, { agent })];
    if (before.decision !== "allow" || kept.decision !== "allow") throw new Error("denied");
    expect(await gate.perform(kept, () => Promise.resolve(1))).toMatchObject({ ran: true });
    key = new Uint8Array(32).fill(2);
    expect(await gate.perform(before, () => Promise.resolve(1))).toMatchObject({
      ran: false,
      verdict: { code: "permit_refused", reason: expect.stringContaining("keys were rotated") },
    });
    expect(await gate.run(write, () => Promise.resolve(1), { agent })).toMatchObject({ ran: true });
  });
});

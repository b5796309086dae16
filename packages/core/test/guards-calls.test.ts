/** One test a guard on calls and their parts: each goes red when its guard is taken out. */
import { describe, expect, it } from "vitest";
import {
  type Allowed,
  type AskTerms,
  type Channel,
  type Layer,
  redeem,
  toolAction,
  type Verdict,
} from "../src/index.js";
import { agent, allowAll, askAll, last, makeKit } from "./gate-kit.js";

const write = toolAction("files", "write_file", { path: "a.txt" });

const asks = (ask: AskTerms, more: object = {}): Layer => ({
  name: "asks",
  judge: () => ({ effect: "ask", ruleId: "asks", reason: "", ask, ...more }),
});

function asAllowed(verdict: Verdict): Allowed {
  if (verdict.decision !== "allow") throw new Error(`expected a yes, got ${verdict.code}`);
  return verdict;
}

describe("a permit", () => {
  it("is over when either clock says so: a wall clock set forward, or set back while time passes", async () => {
    const forward = makeKit({ policy: allowAll });
    const one = asAllowed(await forward.gate(write, { agent }));
    forward.clock.jump(86_400_000);
    expect(() => redeem(one.permit, one.action)).toThrow(
      expect.objectContaining({ code: "permit_expired" }),
    );
    const back = makeKit({ policy: allowAll });
    const two = asAllowed(await back.gate(write, { agent }));
    back.clock.jump(-3_600_000);
    await back.clock.advance(30_001);
    expect(() => redeem(two.permit, two.action)).toThrow(
      expect.objectContaining({ code: "permit_expired" }),
    );
  });

  it("opens nothing after the gate closed or the caller went away", async () => {
    const closing = makeKit({ policy: allowAll });
    const one = asAllowed(await closing.gate(write, { agent }));
    await closing.gate.close();
    expect(() => redeem(one.permit, one.action)).toThrow(
      expect.objectContaining({ code: "permit_denied" }),
    );
    const caller = new AbortController();
    const leaving = makeKit({ policy: allowAll });
    const two = asAllowed(await leaving.gate(write, { agent, signal: caller.signal }));
    caller.abort();
    expect(() => redeem(two.permit, two.action)).toThrow(
      expect.objectContaining({ code: "permit_denied" }),
    );
  });
});

describe("a call", () => {
  it("is denied by a closed gate, whatever the policy says", async () => {
    const { gate } = makeKit({ policy: allowAll });
    await gate.close();
    expect(await gate(write, { agent })).toMatchObject({ code: "gate_closed" });
  });

  it("is denied for a caller that is gone already", async () => {
    const { gate } = makeKit({ policy: allowAll });
    expect(await gate(write, { agent, signal: AbortSignal.abort() })).toMatchObject({
      code: "consent_cancelled",
    });
  });

  it("that its caller could not perform is denied where a person would be asked; a rule's own word comes first", async () => {
    const { gate, shown, sink } = makeKit();
    const obstacle = "the address is private";
    expect(await gate(write, { agent, obstacle })).toMatchObject({
      code: "not_performable",
      reason: obstacle,
    });
    expect(last(sink.events)).toMatchObject({
      decision: "deny",
      metadata: { code: "not_performable", denied: obstacle },
    });
    expect(shown).toEqual([]);
    expect(await makeKit({ policy: allowAll }).gate(write, { agent, obstacle })).toMatchObject({
      code: "policy_allowed",
    });
    expect(await gate(write, { agent, obstacle: "x".repeat(4_097) })).toMatchObject({
      code: "context_invalid",
    });
  });

  it("is not performed when the caller leaves while the log is written", async () => {
    const caller = new AbortController();
    const { gate, sink } = makeKit({ policy: allowAll });
    const verdict = asAllowed(await gate(write, { agent }));
    const append = sink.append.bind(sink);
    sink.append = (events) => {
      caller.abort();
      return append(events);
    };
    const result = await gate.perform(verdict, () => Promise.reject(new Error("must not run")), {
      signal: caller.signal,
    });
    expect(result).toMatchObject({ ran: false, verdict: { code: "consent_cancelled" } });
    expect(last(sink.events).metadata).toMatchObject({ outcome: "not_performed" });
  });
});

describe("a layer", () => {
  it("that returns a promise with an effect is broken, not an allow", async () => {
    const layer = {
      name: "async",
      judge: () =>
        Object.assign(Promise.resolve(), { effect: "allow", ruleId: "x", reason: "" }) as never,
    };
    expect(
      await makeKit({ layers: [layer], policy: allowAll }).gate(write, { agent }),
    ).toMatchObject({ code: "layer_failed" });
  });

  it("that returns null is told so", async () => {
    const layer = { name: "nil", judge: () => null as never };
    expect(await makeKit({ layers: [layer] }).gate(write, { agent })).toMatchObject({
      code: "layer_failed",
      reason: expect.stringContaining("no ruling"),
    });
  });

  it("that speaks first wins among equals", () => {
    const { gate } = makeKit({ layers: [asks({}), { ...asks({}), name: "second" }] });
    expect(gate.evaluate(write, { agent })).toMatchObject({ layer: "asks" });
  });
});

describe("a channel", () => {
  it("with a name that is none does not make a gate", () => {
    const channel: Channel = { name: "My Channel", deliver: () => Promise.resolve() };
    expect(() => makeKit({ channel, policy: askAll })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});

describe("many open questions", () => {
  it("put no listener each on one signal", async () => {
    const warnings: string[] = [];
    const note = (warning: Error): void => void warnings.push(warning.name);
    process.on("warning", note);
    const { gate } = makeKit();
    for (let i = 0; i < 20; i++) await gate.open(write, { agent });
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", note);
    expect(warnings).toEqual([]);
    await gate.close();
  });
});

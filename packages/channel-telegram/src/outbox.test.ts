import type { JsonValue } from "@acp/core";
import { type ManualClock, manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import type { ApiCall, ApiReply } from "./bot-api.js";
import { type Outbox, createOutbox } from "./outbox.js";

const failed = (status: number, retryAfterMs?: number): ApiReply => ({
  ok: false,
  status,
  why: `status ${status}`,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

interface Kit {
  readonly outbox: Outbox;
  readonly clock: ManualClock;
  readonly made: string[];
  readonly warnings: string[];
  readonly life: AbortController;
}

/** An outbox whose calls get these replies, in order, then success. */
function kit(...replies: readonly ApiReply[]): Kit {
  const clock = manualClock();
  const [made, warnings]: [string[], string[]] = [[], []];
  const life = new AbortController();
  const api = async ({ method, signal }: ApiCall): Promise<ApiReply> => {
    expect(signal).toBe(life.signal);
    made.push(method);
    return replies[made.length - 1] ?? { ok: true, result: method satisfies JsonValue };
  };
  return {
    outbox: createOutbox({ api, clock, signal: life.signal, warn: (line) => warnings.push(line) }),
    clock,
    made,
    warnings,
    life,
  };
}

const call = (method: string, signal: AbortSignal = new AbortController().signal): ApiCall => ({
  method,
  params: {},
  signal,
});

describe("createOutbox()", () => {
  it("makes one call after the other, in order", async () => {
    const { outbox, made, clock } = kit(failed(500));
    const all = Promise.all([outbox(call("a")), outbox(call("b")), outbox(call("c"))]);
    await clock.advance(0);
    expect(made).toEqual(["a"]);
    await clock.advance(1_000);
    expect(await all).toEqual(["a", "b", "c"].map((result) => ({ ok: true, result })));
    expect(made).toEqual(["a", "a", "b", "c"]);
  });

  it("waits as long as the service asks, with every call, and loses none", async () => {
    const { outbox, made, clock, warnings } = kit(failed(429, 30_000), failed(429, 5_000));
    const all = Promise.all([outbox(call("a")), outbox(call("b"))]);
    await clock.advance(29_999);
    expect(made).toEqual(["a"]);
    await clock.advance(1);
    expect(made).toEqual(["a", "a"]);
    await clock.advance(4_999);
    expect(made).toEqual(["a", "a"]);
    await clock.advance(1);
    await all;
    expect(made).toEqual(["a", "a", "a", "b"]);
    expect(warnings).toEqual(["Telegram did not accept a message: status 429; trying again"]);
  });

  it("keeps the pause also where the call that got it is given up", async () => {
    const { outbox, made, clock } = kit(failed(429, 30_000));
    const over = new AbortController();
    const [first, second] = [outbox(call("a", over.signal)), outbox(call("b"))];
    await clock.advance(10_000);
    over.abort();
    expect(await first).toMatchObject({ ok: false, why: "given up" });
    await clock.advance(19_999);
    expect(made).toEqual(["a"]);
    await clock.advance(1);
    expect(await second).toMatchObject({ ok: true });
  });

  it("goes on trying through an outage", async () => {
    const outage = Array.from({ length: 20 }, () => failed(0));
    const { outbox, made, clock, warnings } = kit(...outage);
    const sent = outbox(call("a"));
    await clock.advance(20 * 60_000);
    expect(await sent).toMatchObject({ ok: true });
    expect([made.length, warnings.length]).toEqual([21, 1]);
  });

  it.each([400, 401, 403, 404])("hands %i on at once", async (status) => {
    const { outbox, made, warnings } = kit(failed(status));
    expect(await outbox(call("a"))).toMatchObject({ ok: false, status });
    expect([made, warnings]).toEqual([["a"], []]);
  });

  it("does not begin a call that is given up", async () => {
    const { outbox, made } = kit();
    const over = new AbortController();
    over.abort();
    expect(await outbox(call("a", over.signal))).toMatchObject({ ok: false, why: "given up" });
    expect(made).toEqual([]);
  });
});

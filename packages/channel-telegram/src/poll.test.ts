import { type ConsentError, type JsonObject, type JsonValue, isConsentError } from "@acp/core";
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import type { ApiCall, ApiReply } from "./bot-api.js";
import { pollUpdates } from "./poll.js";

const update = (id: number): JsonObject => ({ update_id: id, message: {} });
const given = (...updates: readonly JsonValue[]): ApiReply => ({ ok: true, result: updates });
const failed = (status: number, why = `status ${status}`): ApiReply => ({ ok: false, status, why });

/** Polls a service that gives these replies, in order, and then waits. */
function poll(...replies: readonly (ApiReply | "hang")[]) {
  const clock = manualClock();
  const stop = new AbortController();
  const calls: ApiCall[] = [];
  const taken: JsonValue[] = [];
  const warnings: string[] = [];
  const starts: (ConsentError | "started")[] = [];
  const api = (call: ApiCall): Promise<ApiReply> => {
    const reply = replies[calls.length] ?? "hang";
    calls.push(call);
    return reply === "hang"
      ? new Promise((resolve) => call.signal.addEventListener("abort", () => resolve(failed(0))))
      : Promise.resolve(reply);
  };
  const done = pollUpdates({
    api,
    take: (value) => taken.push(value),
    started: (error) => starts.push(error ?? "started"),
    warn: (line) => warnings.push(line),
    clock,
    signal: stop.signal,
  });
  return { clock, stop, calls, taken, warnings, starts, done };
}

const offsets = (calls: readonly ApiCall[]): readonly unknown[] =>
  calls.map(({ params }) => params["offset"]);

describe("pollUpdates()", () => {
  it("throws away what waited, then takes every update once and confirms it with the next call", async () => {
    const under = poll(given(update(7)), given(update(8), update(9)), given(update(10)));
    await under.clock.advance(0);
    expect(under.taken).toEqual([update(8), update(9), update(10)]);
    expect(offsets(under.calls)).toEqual([-1, 8, 10, 11]);
    expect(under.calls.map(({ params }) => params["timeout"])).toEqual([0, 25, 25, 25]);
    expect(under.calls[0]?.params["allowed_updates"]).toEqual(["message", "callback_query"]);
    expect(under.starts).toEqual(["started"]);
  });

  it("begins with nothing where nothing waited", async () => {
    const under = poll(given(), given(update(3)));
    await under.clock.advance(0);
    expect([offsets(under.calls), under.taken]).toEqual([[-1, 0, 4], [update(3)]]);
  });

  it("loses nothing over failures: the same offset is asked for again", async () => {
    const under = poll(
      given(),
      given(update(3)),
      failed(0),
      failed(502),
      failed(429),
      given(update(4)),
    );
    await under.clock.advance(60_000);
    expect(under.taken).toEqual([update(3), update(4)]);
    expect(offsets(under.calls)).toEqual([-1, 0, 4, 4, 4, 4, 5]);
    expect(under.warnings).toEqual(["Cannot get updates from Telegram: status 0; trying again"]);
  });

  it("does not start before old updates are gone", async () => {
    const under = poll(failed(0), failed(500), given(update(1)), given(update(2)));
    await under.clock.advance(500);
    expect(under.starts).toEqual([]);
    await under.clock.advance(60_000);
    expect([under.starts, under.taken, offsets(under.calls)]).toEqual([
      ["started"],
      [update(2)],
      [-1, -1, -1, 2, 3],
    ]);
  });

  it("says once that another program takes the updates, and comes back after longer and longer pauses", async () => {
    const conflict = failed(409, "Conflict: terminated by other getUpdates request");
    const under = poll(given(), conflict, conflict, conflict, conflict, given(update(1)));
    await under.clock.advance(4_000);
    expect(under.calls.length).toBeLessThanOrEqual(5);
    await under.clock.advance(60_000);
    expect(under.taken).toEqual([update(1)]);
    expect(under.warnings).toHaveLength(1);
    expect(under.warnings[0]).toContain("another program receives this bot's updates");
  });

  it("says that the token is refused, to the person and to whoever waits for the start", async () => {
    const under = poll(failed(401, "Unauthorized"), failed(401, "Unauthorized"));
    await under.clock.advance(59_999);
    expect(under.calls).toHaveLength(1);
    expect(under.warnings[0]).toContain("refuses the bot's token");
    expect(isConsentError(under.starts[0], "channel_unavailable")).toBe(true);
    await under.clock.advance(1);
    expect(under.calls).toHaveLength(2);
  });

  it("says at once that a webhook has the updates, to the person and to whoever waits for the start", async () => {
    const under = poll(
      failed(
        409,
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook",
      ),
      given(),
      given(update(1)),
    );
    await under.clock.advance(0);
    expect(isConsentError(under.starts[0], "channel_unavailable")).toBe(true);
    expect(under.warnings[0]).toContain("delete its webhook");
    await under.clock.advance(60_000);
    expect(under.taken).toEqual([update(1)]);
  });

  it("does not ask without end a server that does not wait", async () => {
    const under = poll(...Array.from({ length: 100 }, () => given()));
    await under.clock.advance(5_500);
    expect(under.calls.length).toBeLessThanOrEqual(8);
  });

  it("takes a reply without a list for a failure", async () => {
    const under = poll({ ok: true, result: { updates: [] } }, given(), given(update(1)));
    await under.clock.advance(10_000);
    expect([under.taken, under.warnings]).toEqual([
      [update(1)],
      ["Cannot get updates from Telegram: the reply has no list of updates; trying again"],
    ]);
  });

  it.each([
    ["while it waits for updates", "hang"],
    ["between two tries", failed(0)],
  ] as const)("ends %s", async (_when, reply) => {
    const under = poll(given(), reply);
    await under.clock.advance(0);
    under.stop.abort();
    await under.done;
    expect(isConsentError(under.starts.at(-1), "channel_unavailable")).toBe(true);
  });
});

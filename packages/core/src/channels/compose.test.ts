import { askDouble, manualClock, sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { memoryChannel } from "../../test/memory-channel.js";
import { composeWith, escalate, firstOf, toAll } from "./compose.js";

const make = () => {
  const clock = manualClock();
  const [a, b, c] = [memoryChannel("a"), memoryChannel("b"), memoryChannel("c")];
  const ask = askDouble(sampleRequest({ createdAtMs: clock.now() }));
  return { clock, a, b, c, ask, ...composeWith(clock) };
};
/** Which of them show the question. */
const where = (...channels: readonly ReturnType<typeof memoryChannel>[]): string =>
  channels.flatMap(({ name, shown }) => (shown.size > 0 ? [name] : [])).join("");

describe("firstOf()", () => {
  it("shows a question on the first that can, and on no other", async () => {
    const { a, b, c, ask, ...compose } = make();
    a.mode = "fails";
    await compose.firstOf(a, b, c).deliver(ask.request, ask.session);
    expect(where(a, b, c)).toBe("b");
    expect(c.given).toEqual([]);
  });

  it("goes on where one is silent for 30 s; what that one says later counts all the same", async () => {
    const { a, b, ask, clock, ...compose } = make();
    a.mode = "hangs";
    const delivering = compose.firstOf(a, b).deliver(ask.request, ask.session);
    await clock.advance(29_999);
    expect(b.given).toEqual([]);
    await clock.advance(1);
    await delivering;
    expect(where(a, b)).toBe("b");
    a.mode = "shows";
    expect(await a.answer(ask.request.id, "approve")).toMatchObject({ status: "final" });
    await clock.advance(0);
    expect(where(a, b)).toBe("");
  });

  it("does not go on with a question that is over", async () => {
    const { a, b, ask, clock, ...compose } = make();
    a.mode = "hangs";
    void compose.firstOf(a, b).deliver(ask.request, ask.session);
    ask.end({ status: "cancelled", reason: "" });
    await clock.advance(60_000);
    expect(b.given).toEqual([]);
  });

  it("rejects where none can, and says that nobody is there only where all of them say so", async () => {
    const { a, b, ask, ...compose } = make();
    [a.mode, b.mode] = ["is alone", "fails"];
    await expect(compose.firstOf(a, b).deliver(ask.request, ask.session)).rejects.toMatchObject({
      code: "channel_failed",
      message:
        "Cannot show the question anywhere: a: Cannot ask anybody: nobody is there; b: b is down",
    });
    b.mode = "is alone";
    await expect(compose.firstOf(a, b).deliver(ask.request, ask.session)).rejects.toMatchObject({
      code: "channel_unavailable",
    });
  });
});

describe("toAll()", () => {
  it("shows a question everywhere, also where one fails; its end ends it everywhere", async () => {
    const { a, b, c, ask, clock, ...compose } = make();
    b.mode = "fails";
    await compose.toAll(a, b, c).deliver(ask.request, ask.session);
    expect(where(a, b, c)).toBe("ac");
    await c.answer(ask.request.id, "deny");
    await clock.advance(0);
    expect(where(a, b, c)).toBe("");
    expect(ask.ending()?.status).toBe("denied");
  });

  it("rejects where none can show it", async () => {
    const { a, ask, ...compose } = make();
    a.mode = "fails";
    await expect(compose.toAll(a).deliver(ask.request, ask.session)).rejects.toMatchObject({
      code: "channel_failed",
    });
  });
});

describe("escalate()", () => {
  it("shows a question on the next stage when its time has come, and not after it ended", async () => {
    const { a, b, c, ask, clock, ...compose } = make();
    const stages = [
      { channel: a },
      { channel: b, afterMs: 60_000 },
      { channel: c, afterMs: 90_000 },
    ];
    await compose.escalate(stages).deliver(ask.request, ask.session);
    await clock.advance(59_999);
    expect(where(a, b, c)).toBe("a");
    await clock.advance(1);
    expect(where(a, b, c)).toBe("ab");
    await b.answer(ask.request.id, "approve");
    await clock.advance(60_000);
    expect(c.given).toEqual([]);
  });

  it("counts from when the question was asked, also where it is shown again later", async () => {
    const { a, b, c, clock, ...compose } = make();
    const ask = askDouble(sampleRequest({ createdAtMs: clock.now() - 50_000 }), {
      redelivery: true,
    });
    await compose
      .escalate([{ channel: a }, { channel: b, afterMs: 40_000 }, { channel: c, afterMs: 60_000 }])
      .deliver(ask.request, ask.session);
    await clock.advance(0);
    expect(where(a, b, c)).toBe("ab");
    await clock.advance(10_000);
    expect(where(a, b, c)).toBe("abc");
  });

  it("goes on at once where a question could be shown nowhere, and rejects at the end of the stages", async () => {
    const { a, b, c, ask, ...compose } = make();
    [a.mode, b.mode] = ["fails", "is alone"];
    const channel = compose.escalate([
      { channel: a },
      { channel: b, afterMs: 60_000 },
      { channel: c, afterMs: 90_000 },
    ]);
    await channel.deliver(ask.request, ask.session);
    expect(where(a, b, c)).toBe("c");
    c.mode = "fails";
    await expect(channel.deliver(ask.request, ask.session)).rejects.toMatchObject({
      code: "channel_failed",
    });
  });

  it("keeps its times where the first channel never comes to an end", async () => {
    const { a, b, ask, clock, ...compose } = make();
    a.mode = "hangs";
    const delivering = compose
      .escalate([{ channel: a }, { channel: b, afterMs: 10_000 }])
      .deliver(ask.request, ask.session);
    await clock.advance(10_000);
    await delivering;
    expect(where(a, b)).toBe("b");
  });

  it("shows a question once on a channel that stands in several stages", async () => {
    const { a, b, ask, clock, ...compose } = make();
    await compose
      .escalate([{ channel: a }, { channel: compose.toAll(a, b), afterMs: 10_000 }])
      .deliver(ask.request, ask.session);
    await clock.advance(10_000);
    expect([a.given.length, b.given.length]).toEqual([1, 1]);
  });
});

describe("who answered", () => {
  it("is known by the channel that authenticated them, however deep it is, and whatever a channel says of another", async () => {
    const { a, b, clock, ...compose } = make();
    const said: unknown[] = [];
    const session = {
      redelivery: false,
      ended: new Promise<never>(() => undefined),
      outcome: new Promise<never>(() => undefined),
      submit: (_claim: unknown, by?: { readonly subject: string; readonly channel?: string }) => {
        said.push(by);
        return Promise.resolve({ status: "final", outcome: "approved" } as const);
      },
    };
    const { request } = askDouble(sampleRequest({ createdAtMs: clock.now() }));
    await compose.toAll(a, compose.firstOf(b)).deliver(request, session);
    await a.answer(request.id, "approve", "1");
    await b.answer(request.id, "approve", "2");
    await b.given[0]?.session.submit({}, { subject: "3", channel: "a" });
    await b.given[0]?.session.submit({});
    expect(said).toEqual([
      { subject: "1", channel: "a" },
      { subject: "2", channel: "b" },
      { subject: "3", channel: "b" },
      { subject: "local", channel: "b" },
    ]);
  });
});

describe("composing refuses", () => {
  const [a, b] = [memoryChannel("a"), memoryChannel("b")];
  const later = escalate([{ channel: a }, { channel: b, afterMs: 1 }]);
  it.each<[string, () => unknown, string]>([
    ["no channel", () => firstOf(), "there are none"],
    ["no channel", () => toAll(), "there are none"],
    ["no stage", () => escalate([]), "there are none"],
    [
      "two channels of one name",
      () => toAll(a, memoryChannel("a")),
      'two of them have the name "a"',
    ],
    [
      "two of one name inside",
      () => firstOf(toAll(a, b), memoryChannel("b")),
      'two of them have the name "b"',
    ],
    ["an escalation inside", () => toAll(later, memoryChannel("c")), "put escalate() outside"],
    [
      "an escalation inside another one",
      () => escalate([{ channel: later }]),
      "put escalate() outside",
    ],
    [
      "a first stage that waits",
      () => escalate([{ channel: a, afterMs: 1 }]),
      "does not start at once",
    ],
    [
      "stages at one time",
      () => escalate([{ channel: a }, { channel: b }]),
      "not in ascending order of afterMs",
    ],
    [
      "a time that is none",
      () => escalate([{ channel: a }, { channel: b, afterMs: Number.NaN }]),
      "not within a week",
    ],
    [
      "approvers for some stages",
      () =>
        escalate([
          { channel: a, approvers: ["x"] },
          { channel: b, afterMs: 1 },
        ]),
      "some stages name approvers",
    ],
  ])("%s", (_, compose, why) => {
    expect(compose).toThrow(
      expect.objectContaining({ code: "options_invalid", message: expect.stringContaining(why) }),
    );
  });

  it("nothing of one channel in two places", () => {
    expect(toAll(a, firstOf(a, b)).name).toBe("all-a-first-a-b");
  });
});
